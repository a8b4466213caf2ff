/* A TCP connection of the two sides over the loopback interface. */
#ifndef PAGEWISE_TRANSFER_TCP_H
#define PAGEWISE_TRANSFER_TCP_H
#include "socket.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Only the kernel's own loopback, on a port that it chooses; nothing outside the machine can connect. */
static inline int listen_on_loopback(struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof *address) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) != 0)
        return -1;
    return fd;
}

/* Both sides call the one that is theirs, at the same place. */
static inline int tcp_to_b(struct slot *s)
{
    struct sockaddr_in address;
    int listener = listen_on_loopback(&address);
    agree(s, listener < 0 ? "no TCP on the loopback address here (a network namespace whose `lo` is down?)" : NULL);
    tell(s, &address, sizeof address);
    agree(s, NULL); /* b is connected, so the next line does not wait */
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        fail(s, "accept4");
    close(listener);
    return fd;
}

static inline int tcp_from_a(struct slot *s)
{
    struct sockaddr_in address;
    agree(s, NULL);
    hear(s, &address, sizeof address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    agree(s, connected ? NULL : "a connection to the loopback address was refused (a network namespace whose `lo` is down?)");
    return fd;
}
#endif
