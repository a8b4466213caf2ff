/* Descriptors as the message methods use them: waiting by spinning or blocking, and memory that both sides map. */
#include "streams.h"
#include <fcntl.h>

void spin_or_block(struct slot *s, const struct link *l, int descriptor)
{
    if (l->spin && fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0)
        fail(s, "fcntl");
}

void no_port(struct slot *s, const char *call)
{
    if (errno == EADDRINUSE || errno == EADDRNOTAVAIL)
        fail_because(s, call, "every port of net.ipv4.ip_local_port_range is taken or reserved on the loopback interface");
    fail(s, call);
}

char *shared_by_descriptor(struct slot *s, size_t bytes)
{
    int fd = s->role == 'a' ? memfd_create("pagewise-message", memfd_flags()) : -1;
    agree(s, s->role == 'a' ? memfd_obstacle(fd) : NULL);
    if (s->role == 'b')
        fd = hear_descriptor(s);
    if (fd < 0)
        fail(s, "memfd_create");
    if (s->role == 'a') {
        if (ftruncate(fd, (off_t)bytes) != 0)
            fail(s, "ftruncate");
        tell_descriptor(fd);
    }
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    check_map(s, p);
    close(fd);
    return p;
}
