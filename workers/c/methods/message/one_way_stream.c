#include "one_way.h"

/* The last message is answered by one byte, and by nothing else. */
static bool send_all(struct link *l, uint64_t ops, char *last)
{
    for (uint64_t i = 0; i < ops; i++) {
        stamp(l, i);
        if (!stream_send(l))
            return false;
    }
    return read(l->in, last, 1) == 1;
}

static bool receive_all(struct link *l, uint64_t ops, uint64_t *sum)
{
    for (uint64_t i = 0; i < ops; i++) {
        if (!stream_receive(l))
            return false;
        *sum += stamp_of(l);
    }
    return write(l->out, "l", 1) == 1;
}

static void run(struct slot *s)
{
    struct link l = message_begin(s);
    uint64_t ops = s->ops;
    int pair[2];
    char last = 0;
    bool ok = false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        fail(s, "socketpair");
    tell_descriptor(pair[1]);
    close(pair[1]);
    l.in = l.out = pair[0];
    pattern_fill(l.message, l.bytes, s->seed);
    meet(s);
    PHASE(s, "one-way") { ok = send_all(&l, ops, &last); }
    if (!ok)
        fail(s, "write or read");
    fact(s, "last_came", last == 'l');
    one_way_sent(s, &l, ops);
    close(l.in);
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    struct link l = message_begin(s);
    uint64_t ops = s->ops, sum = 0;
    bool ok = false;
    l.in = l.out = hear_descriptor(s);
    meet(s);
    PHASE(s, "one-way") { ok = receive_all(&l, ops, &sum); }
    if (!ok)
        fail(s, "read or write");
    one_way_received(s, &l, sum);
    close(l.in);
    message_end(s, &l);
}

METHOD(message_one_way_stream, .experiment = "message", .name = "one-way-stream", .group = "one-way",
       .summary = "A Unix stream socket that carries messages one way only; the last one is acknowledged.",
       .phases = ONE_WAY_PHASES, .keys = "bytes:size ops:count wait:block " PIN_KEY, .memory = "2 * bytes + 8 * ops",
       .laws = ONE_WAY_LAWS, .calls = "one-way:read,write", .run = run, .run_b = run_b);
