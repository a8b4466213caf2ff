#include "one_way_queue.h"

static bool send_all(const struct queue *q, const unsigned char *message, uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++)
        if (!queue_put(q, message, i))
            return false;
    return queue_drained(q, ops);
}

static void run(struct slot *s)
{
    struct link l = message_begin(s);
    struct queue q = queue_open(s);
    const unsigned char *message = l.message;
    uint64_t ops = s->ops;
    bool ok = false;
    pattern_fill(l.message, l.bytes, s->seed);
    meet(s);
    PHASE(s, "one-way") { ok = send_all(&q, message, ops); }
    if (!ok)
        fail(s, "spin");
    fact(s, "last_came", *q.taken == ops);
    one_way_sent(s, &l, ops);
    munmap(q.slots, queue_bytes(s));
    message_end(s, &l);
}

METHOD(message_one_way_ring, .experiment = "message", .name = "one-way-ring", .group = "one-way",
       .summary = "A ring of 64 messages in shared memory, one producer and one consumer, both spinning; nothing is answered.",
       .phases = ONE_WAY_PHASES, .keys = "bytes:size ops:count wait:spin " PIN_KEY, .memory = "68 * bytes + 8 * ops + 16384",
       .laws = ONE_WAY_LAWS, .calls = "one-way:sched_yield?,poll?", .run = run, .run_b = queue_consumer);
