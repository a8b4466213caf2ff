#include "tcp.h"

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
