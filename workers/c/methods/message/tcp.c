#include "streams.h"
#include <netinet/in.h>
#include <netinet/tcp.h>

TRIPS(by_tcp, stream_send, stream_receive);

static void no_delay(struct slot *s, int descriptor)
{
    if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)) != 0)
        fail(s, "setsockopt");
}

/* The kernel picks a free port of the loopback interface; side b is told its number. */
static void run(struct slot *s)
{
    struct link l = message_begin(s);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check_done(s, listener < 0, "socket");
    if (bind(listener, (struct sockaddr *)&address, length) != 0)
        no_port(s, "bind");
    if (listen(listener, 1) != 0)
        no_port(s, "listen");
    check_done(s, getsockname(listener, (struct sockaddr *)&address, &length), "getsockname");
    tell(s, &address.sin_port, sizeof address.sin_port);
    l.in = l.out = accept_for_a_while(listener);
    if (l.in < 0)
        fail(s, "accept4");
    close(listener);
    no_delay(s, l.in);
    spin_or_block(s, &l, l.in);
    message_ask(s, &l, &by_tcp, "read or write");
    close(l.in);
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    struct link l = message_begin(s);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    hear(s, &address.sin_port, sizeof address.sin_port);
    l.in = l.out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check_done(s, l.in < 0, "socket");
    if (connect(l.in, (struct sockaddr *)&address, sizeof address) != 0)
        no_port(s, "connect");
    no_delay(s, l.in);
    spin_or_block(s, &l, l.in);
    message_answer(s, &l, &by_tcp, "read or write");
    close(l.in);
    message_end(s, &l);
}

METHOD(message_tcp, .experiment = "message", .name = "tcp", .summary = "TCP over the loopback interface, TCP_NODELAY.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read,write,sched_yield?,poll? timed-trips:read,write,sched_yield?,poll?", .run = run, .run_b = run_b);
