#include "one_way_queue.h"

/* Several threads of side a fill one queue: each takes a ticket, and who has the ticket has the slot. */
static struct queue q;
static const unsigned char *message;
static uint64_t tickets, messages, failures;

static void produce(const struct part *part)
{
    (void)part;
    for (uint64_t ticket; (ticket = __atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED)) < messages;)
        if (!queue_put(&q, message, ticket)) {
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
            return;
        }
}

static void run(struct slot *s)
{
    struct link l = message_begin(s);
    bool ok = false;
    q = queue_open(s);
    message = l.message;
    messages = s->ops;
    tickets = failures = 0;
    pattern_fill(l.message, l.bytes, s->seed);
    meet(s);
    PARALLEL_PHASE(s, "one-way") {
        on_every_thread(s, produce, q.slots, queue_bytes(s), 0);
        ok = queue_drained(&q, messages);
    }
    if (!ok || failures)
        fail(s, "spin");
    fact(s, "last_came", *q.taken == messages);
    fact(s, "tickets", tickets);
    one_way_sent(s, &l, messages);
    munmap(q.slots, queue_bytes(s));
    message_end(s, &l);
}

METHOD(message_one_way_producers, .experiment = "message", .name = "one-way-producers", .group = "one-way",
       .summary = "The same ring filled by several threads of side a, which take tickets by one atomic counter.",
       .phases = ONE_WAY_PHASES, .keys = "bytes:size ops:count threads:count wait:spin " PIN_KEY,
       .memory = "68 * bytes + 8 * ops + 16384", .laws = ONE_WAY_LAWS "; tickets == ops + threads" "; " THREADS_LAWS,
       .calls = "one-way:sched_yield?,poll?,futex?", .run = run, .run_b = queue_consumer);
