#include "futex.h"

/* Looks at the turn before the sleep: none, or so many. */
static bool receive_asleep(struct link *l) { return receive_or_sleep(l, 0); }
static bool receive_spinning(struct link *l) { return receive_or_sleep(l, 4000); }

TRIPS(by_futex_sleeper, send_and_wake_sleeper, receive_asleep);
TRIPS(by_spin_futex, send_and_wake_sleeper, receive_spinning);

static void run(struct slot *s, const struct trips *trips)
{
    char *memory;
    struct link l = sleeper_begin(s, &memory);
    message_ask(s, &l, trips, "futex");
    sleeper_end(s, &l, memory);
}

static void run_b(struct slot *s, const struct trips *trips)
{
    char *memory;
    struct link l = sleeper_begin(s, &memory);
    message_answer(s, &l, trips, "futex");
    sleeper_end(s, &l, memory);
}

static void asleep(struct slot *s) { run(s, &by_futex_sleeper); }
static void asleep_b(struct slot *s) { run_b(s, &by_futex_sleeper); }
METHOD(message_futex_sleeper, .experiment = "message", .name = "futex-sleeper",
       .summary = "A ring in shared memory; who waits says so and sleeps (futex), and the sender wakes only who said so.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = SLEEPER_LAWS,
       .calls = "round-trips:futex? timed-trips:futex?", .run = asleep, .run_b = asleep_b);

static void spinning(struct slot *s) { run(s, &by_spin_futex); }
static void spinning_b(struct slot *s) { run_b(s, &by_spin_futex); }
METHOD(message_spin_futex, .experiment = "message", .name = "spin-futex",
       .summary = "A ring in shared memory; who waits looks 4000 times, then says so and sleeps (futex); the sender wakes only who said so.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = SLEEPER_LAWS,
       .calls = "round-trips:futex? timed-trips:futex?", .run = spinning, .run_b = spinning_b);
