#include "ring.h"

/* One place for both ways: the answer is written where the question lies. Its turn stands behind the payload, in the same
 * cache line where both fit into one, so that a small message and its answer are one line that goes to and fro. */
static inline bool mail_send(struct link *l)
{
    memcpy(l->ring_out, l->message, l->bytes);
    __atomic_store_n((uint64_t *)(l->ring_out + ring_turn_at(l->bytes)), ++l->turn_in, __ATOMIC_RELEASE);
    return true;
}

static inline bool mail_receive(struct link *l)
{
    uint64_t *turn = (uint64_t *)(l->ring_out + ring_turn_at(l->bytes)), wanted = l->turn_in + 1;
    unsigned tries = 0;
    while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != wanted)
        if (!tried(&tries, TRIES_IN_MEMORY))
            return false;
    l->turn_in = wanted;
    memcpy(l->message, l->ring_out, l->bytes);
    return true;
}

TRIPS(by_mailbox, mail_send, mail_receive);

static void both(struct slot *s)
{
    if (key_is(s, "wait", "block"))
        skip_alike(s, "a mailbox never sleeps; futex-ring and eventfd are shared memory with sleep");
    struct link l = message_begin(s);
    l.ring_out = shared_by_descriptor(s, ring_bytes(s));
    uint64_t *turn = (uint64_t *)(l.ring_out + ring_turn_at(l.bytes));
    if (s->role == 'a')
        message_ask(s, &l, &by_mailbox, "spin");
    else
        message_answer(s, &l, &by_mailbox, "spin");
    /* 16 checked messages, and two rows of trips with one that is not counted before each; each there and back. */
    fact(s, s->role == 'b' ? "b.turns" : "turns", __atomic_load_n(turn, __ATOMIC_ACQUIRE));
    munmap(l.ring_out, ring_bytes(s));
    message_end(s, &l);
}

METHOD(message_mailbox, .experiment = "message", .name = "mailbox",
       .summary = "One place in shared memory for question and answer; who waits reads its turn again and again.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops",
       .laws = SPIN_LAWS "; turns == 2 * (16 + 2 * (ops + 1)); b.turns == turns",
       .calls = "round-trips:sched_yield?,poll? timed-trips:sched_yield?,poll?", .run = both,
       .run_b = both);
