#include "tcp.h"

/* The kernel doubles what is asked for, for its own records (socket(7)); above net.core.wmem_max only root is given it. */
static int with_room(struct slot *s, int fd)
{
    int wanted = (int)key_size(s, "sndbuf"), granted = 0;
    socklen_t length = sizeof granted;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &wanted, sizeof wanted) != 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof wanted);
    check_done(s, getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &granted, &length), "getsockopt");
    agree(s, granted == 2 * wanted ? NULL : "sndbuf is outside what net.core.wmem_max allows here");
    fact(s, "granted_bytes", (uint64_t)granted);
    return fd;
}

static void unix_sockets(struct slot *s) { socket_send(s, socket_to_b(s)); }
static void unix_sockets_b(struct slot *s) { socket_receive(s, socket_from_a(s)); }
METHOD(transfer_unix_stream, .experiment = "transfer", .name = "unix-stream",
       .summary = "write and read on a pair of Unix stream sockets.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS, .calls = "send:write receive:read", .run = unix_sockets, .run_b = unix_sockets_b);

static void loopback(struct slot *s) { socket_send(s, tcp_to_b(s)); }
static void loopback_b(struct slot *s) { socket_receive(s, tcp_from_a(s)); }
METHOD(transfer_tcp, .experiment = "transfer", .name = "tcp",
       .summary = "write and read on a TCP connection over the loopback interface.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS, .calls = "send:write receive:read", .run = loopback, .run_b = loopback_b);

static void roomy(struct slot *s) { socket_send(s, with_room(s, socket_to_b(s))); }
static void roomy_b(struct slot *s)
{
    int fd = socket_from_a(s);
    agree(s, NULL);
    socket_receive(s, fd);
}
METHOD(transfer_unix_stream_sndbuf, .experiment = "transfer", .name = "unix-stream-sndbuf",
       .summary = "write and read on a pair of Unix stream sockets whose sender may have `sndbuf` bytes under way (SO_SNDBUF).",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size sndbuf:size", .memory = "2 * bytes + sndbuf",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_bytes == 2 * sndbuf", .calls = "send:write receive:read", .run = roomy,
       .run_b = roomy_b);
