#include "streams.h"
#include <netinet/in.h>

TRIPS(by_datagrams, datagram_send, datagram_receive);

static SHARED_BODY void socket_pair(struct slot *s, int type)
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

static void socket_pair_b(struct slot *s)
{
    struct link l = message_begin(s);
    l.in = l.out = hear_descriptor(s);
    spin_or_block(s, &l, l.in);
    message_answer(s, &l, &by_datagrams, "send or recv");
    close(l.in);
    message_end(s, &l);
}

static void datagrams(struct slot *s) { socket_pair(s, SOCK_DGRAM); }
METHOD(message_unix_dgram, .experiment = "message", .name = "unix-dgram",
       .summary = "A pair of Unix datagram sockets: boundaries are kept, nothing is lost.", .phases = MESSAGE_PHASES,
       .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:sendto,recvfrom,sched_yield?,poll? timed-trips:sendto,recvfrom,sched_yield?,poll?",
       .run = datagrams, .run_b = socket_pair_b);

static void packets(struct slot *s) { socket_pair(s, SOCK_SEQPACKET); }
METHOD(message_unix_seqpacket, .experiment = "message", .name = "unix-seqpacket",
       .summary = "A pair of Unix sockets that keep boundaries and know of a connection (SOCK_SEQPACKET).",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:sendto,recvfrom,sched_yield?,poll? timed-trips:sendto,recvfrom,sched_yield?,poll?",
       .run = packets, .run_b = socket_pair_b);

/* Each side takes a free port of the loopback interface and tells the other its number. */
static void open_ends(struct slot *s, struct link *l)
{
    if (l->bytes > 65507)
        skip_alike(s, "a UDP datagram carries at most 65507 bytes");
    struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, theirs = mine;
    socklen_t length = sizeof mine;
    l->in = l->out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    check_done(s, l->in < 0, "socket");
    if (bind(l->in, (struct sockaddr *)&mine, length) != 0)
        no_port(s, "bind");
    check_done(s, getsockname(l->in, (struct sockaddr *)&mine, &length), "getsockname");
    tell(s, &mine.sin_port, sizeof mine.sin_port);
    hear(s, &theirs.sin_port, sizeof theirs.sin_port);
    if (connect(l->in, (struct sockaddr *)&theirs, sizeof theirs) != 0)
        no_port(s, "connect");
    spin_or_block(s, l, l->in);
}
static void udp(struct slot *s)
{
    struct link l = message_begin(s);
    open_ends(s, &l);
    meet(s);
    message_ask(s, &l, &by_datagrams, "send or recv");
    close(l.in);
    message_end(s, &l);
}
static void udp_b(struct slot *s)
{
    struct link l = message_begin(s);
    open_ends(s, &l);
    meet(s);
    message_answer(s, &l, &by_datagrams, "send or recv");
    close(l.in);
    message_end(s, &l);
}
METHOD(message_udp, .experiment = "message", .name = "udp", .summary = "UDP datagrams over the loopback interface.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:sendto,recvfrom,sched_yield?,poll? timed-trips:sendto,recvfrom,sched_yield?,poll?",
       .run = udp, .run_b = udp_b);
