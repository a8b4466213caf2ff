/* A TCP connection of the two sides over the loopback interface. */
#ifndef PAGEWISE_TRANSFER_TCP_H
#define PAGEWISE_TRANSFER_TCP_H
#include "socket.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Only the kernel's own loopback, on a port that it chooses; nothing outside the machine can connect. What keeps it from
 * listening, or NULL. */
static inline const char *listen_on_loopback(struct sockaddr_in *address, int *fd)
{
    const char *hint = "is there a loopback interface that is up in this network namespace?";
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return refused("socket", hint);
    if (bind(*fd, (struct sockaddr *)address, sizeof *address) != 0)
        return refused("bind", hint);
    if (listen(*fd, 1) != 0)
        return refused("listen", hint);
    return getsockname(*fd, (struct sockaddr *)address, &length) == 0 ? NULL : refused("getsockname", hint);
}

/* Both sides call the one that is theirs, at the same place. */
static inline int tcp_to_b(struct slot *s)
{
    struct sockaddr_in address;
    int listener, *channel = lasting_channel(s);
    if (*channel >= 0)
        return *channel;
    agree(s, listen_on_loopback(&address, &listener));
    tell(s, &address, sizeof address);
    agree(s, NULL); /* b is connected, so the next line does not wait */
    *channel = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (*channel < 0)
        fail(s, "accept4");
    close(listener);
    return *channel;
}

static inline int tcp_from_a(struct slot *s)
{
    struct sockaddr_in address;
    int *channel = lasting_channel(s);
    if (*channel >= 0)
        return *channel;
    agree(s, NULL);
    hear(s, &address, sizeof address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    const char *call = fd < 0 ? "socket" : "connect";
    agree(s, connected ? NULL : refused(call, "is there a loopback interface that is up in this network namespace?"));
    return *channel = fd;
}
#endif
