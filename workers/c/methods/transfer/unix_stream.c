#include "socket.h"

static void run(struct slot *s)
{
    socket_send(s, socket_to_b(s));
}

static void run_b(struct slot *s)
{
    socket_receive(s, socket_from_a(s));
}

METHOD(transfer_unix_stream, .experiment = "transfer", .name = "unix-stream",
       .summary = "write and read on a pair of Unix stream sockets.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS, .calls = "send:write receive:read", .run = run, .run_b = run_b);
