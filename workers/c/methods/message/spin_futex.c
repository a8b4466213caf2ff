#include "futex.h"

enum { TRIES = 4000 }; /* looks at the turn before the sleep */

static bool receive(struct link *l)
{
    return receive_or_sleep(l, TRIES);
}

TRIPS(by_spin_futex, send_and_wake_sleeper, receive);

static void run(struct slot *s)
{
    char *memory;
    struct link l = sleeper_begin(s, &memory);
    message_ask(s, &l, &by_spin_futex, "futex");
    sleeper_end(s, &l, memory);
}

static void run_b(struct slot *s)
{
    char *memory;
    struct link l = sleeper_begin(s, &memory);
    message_answer(s, &l, &by_spin_futex, "futex");
    sleeper_end(s, &l, memory);
}

METHOD(message_spin_futex, .experiment = "message", .name = "spin-futex",
       .summary = "A ring in shared memory; who waits looks 4000 times, then says so and sleeps (futex); the sender wakes only who said so.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = SLEEPER_LAWS,
       .calls = "round-trips:futex? timed-trips:futex?", .run = run, .run_b = run_b);
