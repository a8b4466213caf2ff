#include "streams.h"

/* One word in one cache line: no message between two CPUs can be passed with less than taking the line over, and back. */
static bool ask(uint64_t *line, uint64_t ops)
{
    unsigned tries = 0;
    for (uint64_t turn = 1; turn <= 2 * ops; turn += 2) {
        __atomic_store_n(line, turn, __ATOMIC_RELEASE);
        while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != turn + 1)
            if (!tried(&tries, TRIES_IN_MEMORY))
                return false;
    }
    return true;
}

static bool answer(uint64_t *line, uint64_t ops)
{
    unsigned tries = 0;
    for (uint64_t turn = 1; turn <= 2 * ops; turn += 2) {
        while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != turn)
            if (!tried(&tries, TRIES_IN_MEMORY))
                return false;
        __atomic_store_n(line, turn + 1, __ATOMIC_RELEASE);
    }
    return true;
}

static void run(struct slot *s)
{
    struct link l = message_begin(s);
    uint64_t *line = (uint64_t *)shared_by_descriptor(s, s->page_bytes), ops = s->ops;
    bool ok = false;
    meet(s);
    PHASE(s, "round-trips") { ok = ask(line, ops); }
    if (!ok)
        fail(s, "spin");
    fact(s, "turns", *line);
    munmap(line, s->page_bytes);
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    struct link l = message_begin(s);
    uint64_t *line = (uint64_t *)shared_by_descriptor(s, s->page_bytes), ops = s->ops;
    bool ok = false;
    meet(s);
    PHASE(s, "round-trips") { ok = answer(line, ops); }
    if (!ok)
        fail(s, "spin");
    munmap(line, s->page_bytes);
    message_end(s, &l);
}

METHOD(message_limit, .experiment = "message", .name = "limit", .role = "limit",
       .summary = "One cache line bounced between two CPUs: the least that any message can cost.", .phases = "round-trips",
       .keys = "bytes:size ops:count " PIN_KEY, .memory = "8 * ops",
       .laws = "turns == 2 * ops; " PIN_LAWS, .calls = "round-trips:sched_yield?,poll?",
       .run = run, .run_b = run_b);
