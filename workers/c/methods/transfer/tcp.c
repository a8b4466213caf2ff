#include "tcp.h"

static void run(struct slot *s)
{
    socket_send(s, tcp_to_b(s));
}

static void run_b(struct slot *s)
{
    socket_receive(s, tcp_from_a(s));
}

METHOD(transfer_tcp, .experiment = "transfer", .name = "tcp",
       .summary = "write and read on a TCP connection over the loopback interface.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS, .calls = "send:write receive:read", .run = run, .run_b = run_b);
