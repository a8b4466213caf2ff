#include "streams.h"

TRIPS(by_datagrams, datagram_send, datagram_receive);

static SHARED_BODY void run(struct slot *s, int type)
{
    struct link l = message_begin(s);
    int pair[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) != 0)
        fail(s, "socketpair");
    tell_descriptor(pair[1]);
    close(pair[1]);
    l.in = l.out = pair[0];
    spin_or_block(s, &l, l.in);
    message_ask(s, &l, &by_datagrams, "send or recv");
    close(l.in);
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    struct link l = message_begin(s);
    l.in = l.out = hear_descriptor(s);
    spin_or_block(s, &l, l.in);
    message_answer(s, &l, &by_datagrams, "send or recv");
    close(l.in);
    message_end(s, &l);
}

static void datagrams(struct slot *s) { run(s, SOCK_DGRAM); }
METHOD(message_unix_dgram, .experiment = "message", .name = "unix-dgram",
       .summary = "A pair of Unix datagram sockets: boundaries are kept, nothing is lost.", .phases = MESSAGE_PHASES,
       .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:sendto,recvfrom,sched_yield?,poll? timed-trips:sendto,recvfrom,sched_yield?,poll?", .run = datagrams, .run_b = run_b);

static void packets(struct slot *s) { run(s, SOCK_SEQPACKET); }
METHOD(message_unix_seqpacket, .experiment = "message", .name = "unix-seqpacket",
       .summary = "A pair of Unix sockets that keep boundaries and know of a connection (SOCK_SEQPACKET).",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:sendto,recvfrom,sched_yield?,poll? timed-trips:sendto,recvfrom,sched_yield?,poll?",
       .run = packets, .run_b = run_b);
