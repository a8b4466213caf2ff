#include "futex.h"

/* The turn's low half is the futex word. The sleeper is woken by every message, for the sender cannot know whether it
 * sleeps. */
static bool ring_send(struct link *l)
{
    char *slot = ring_slot(l->ring_out, l->turn_out, l->bytes);
    uint32_t *word = (uint32_t *)(slot + ring_turn_at(l->bytes));
    memcpy(slot, l->message, l->bytes);
    __atomic_store_n(word, (uint32_t)++l->turn_out, __ATOMIC_RELEASE);
    return futex(word, FUTEX_WAKE, 1) >= 0;
}

static bool ring_receive(struct link *l)
{
    char *slot = ring_slot(l->ring_in, l->turn_in++, l->bytes);
    uint32_t *word = (uint32_t *)(slot + ring_turn_at(l->bytes)), seen;
    while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != (uint32_t)l->turn_in)
        if (futex(word, FUTEX_WAIT, seen) != 0 && errno != EAGAIN && errno != EINTR)
            return false;
    memcpy(l->message, slot, l->bytes);
    return true;
}

TRIPS(by_futex_ring, ring_send, ring_receive);

static void only_blocks(struct slot *s)
{
    if (key_is(s, "wait", "spin"))
        skip_alike(s, "a futex is there to sleep; spin-ring is the same ring without");
}

static void run(struct slot *s)
{
    only_blocks(s);
    struct link l = message_begin(s);
    char *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, memory);
    message_ask(s, &l, &by_futex_ring, "futex");
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    only_blocks(s);
    struct link l = message_begin(s);
    char *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, memory);
    message_answer(s, &l, &by_futex_ring, "futex");
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

METHOD(message_futex_ring, .experiment = "message", .name = "futex-ring",
       .summary = "A ring in shared memory; who waits sleeps on the turn (futex).", .phases = MESSAGE_PHASES,
       .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:futex,sched_yield?,poll? timed-trips:futex,sched_yield?,poll?", .run = run, .run_b = run_b);
