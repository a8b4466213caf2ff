/* See streams.h. */
#include "streams.h"
#include <sys/socket.h>

int pipe_to_b(struct slot *s, size_t pipe_bytes, const char *obstacle)
{
    int ends[2];
    if (!obstacle)
        obstacle = pipe_open(s, ends, pipe_bytes);
    agree(s, obstacle);
    tell_descriptor(ends[0]);
    close(ends[0]); /* so that side b's end is the only one: its death is a broken pipe */
    return ends[1];
}

int pipe_from_a(struct slot *s)
{
    agree(s, NULL);
    return hear_descriptor(s);
}

int socket_to_b(struct slot *s)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail(s, "socketpair");
    tell_descriptor(ends[1]);
    close(ends[1]);
    return ends[0];
}

int socket_from_a(struct slot *s)
{
    return hear_descriptor(s);
}

uint64_t pipe_bytes_of(int fd)
{
    return (uint64_t)fcntl(fd, F_GETPIPE_SZ);
}

uint64_t socket_bytes_of(struct slot *s, int fd)
{
    int bytes = 0;
    socklen_t length = sizeof bytes;
    getsockopt(fd, SOL_SOCKET, s->role == 'a' ? SO_SNDBUF : SO_RCVBUF, &bytes, &length);
    return (uint64_t)bytes;
}
