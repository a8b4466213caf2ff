/* The untimed half of `message`: preparing, checking every byte at both ends, keeping the two sides in step. */
#include "message.h"
#include <sys/socket.h>
#include <sys/time.h>
#include "latency.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHECKED = 16 }; /* messages of which every byte is checked, before the timed ones */
enum { SETTLE_NS = 20000000 }; /* five ticks at 250 Hz */

static uint64_t *latencies;

/* The pause before each message (`idle=`), in ns; 0 for none. */
static uint64_t idle_ns(const struct slot *s)
{
    char *unit;
    uint64_t number = strtoull(key_word(s, "idle"), &unit, 10);
    return number * (*unit == 'u' ? 1000 : *unit == 'm' ? 1000000 : 1000000000);
}

/* Sides that the scheduler places meet asleep: a meeting awake would part those that share a CPU. */
static void meet_placed(struct slot *s, const struct link *l)
{
    (key_is(s, "pin", "none") && !l->spin ? meet_asleep : meet)(s);
}

/* Trips that are not counted, until the state is one that lasts. What was closed, unmapped or forked is freed milliseconds
 * later (RCU). A CPU on which that is due keeps its tick when it goes idle, and is woken sooner: a trip takes 46 us in a guest
 * that does not poll, for 12 ms after a pipe is closed, and 72 as soon as the sides only talk. The last of them has turn 1.
 * Returns their time. */
static uint64_t settle(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    bool sleeps = !l->spin && !idle_ns(s) && !key_is(s, "pin", "same");
    uint64_t start = now_ns();
    for (uint64_t turn = 0; turn == 0;) {
        turn = !sleeps || now_ns() - start >= SETTLE_NS;
        stamp(l, turn);
        if (!trips->send(l) || !trips->receive(l))
            fail(s, call);
    }
    return now_ns() - start;
}

/* Side b sees which of them is the last. */
static void settle_along(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    do {
        if (!trips->receive(l) || !trips->send(l))
            fail(s, call);
    } while (stamp_of(l) == 0);
}

/* One trip that is not counted goes before and one behind, so that neither side's phase has in it that the other begins, or on
 * the same CPU reads its clocks at the end. */
static void outer_trip(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    stamp(l, 0);
    if (!trips->send(l) || !trips->receive(l))
        fail(s, call);
}

static void first_trip(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    meet_placed(s, l);
    outer_trip(s, l, trips, call);
}

struct link message_begin(struct slot *s)
{
    struct link l = {.bytes = s->bytes, .spin = key_is(s, "wait", "spin"), .in = -1, .out = -1, .wake_in = -1, .wake_out = -1};
    cpu_set_t allowed;
    bool spins = l.spin || !*key_word(s, "wait");
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        fail(s, "sched_getaffinity");
    if (spins && (key_is(s, "pin", "same") || (key_is(s, "pin", "none") && CPU_COUNT(&allowed) < 2)))
        skip_alike(s, "two sides that spin on one CPU wait for the scheduler and not for each other");
    if (idle_ns(s) && spins)
        skip_alike(s, "a side that spins is never idle: idle goes with wait=block");
    if (idle_ns(s))
        agree(s, NULL); /* a side a in another language may not know how to pause */
    size_t ops = key_size(s, "ops"), room = (l.bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    l.message = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    latencies = mmap(NULL, ops * sizeof *latencies, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (l.message == MAP_FAILED || latencies == MAP_FAILED)
        fail(s, "mmap");
    s->ops = ops;
    s->phase_bytes = ops * s->bytes;
    return l;
}

void message_end(struct slot *s, struct link *l)
{
    munmap(l->message, l->bytes);
    munmap(latencies, key_size(s, "ops") * sizeof *latencies);
}

/* What the turns of all messages add up to; one byte carries only the turn modulo 256. */
static uint64_t expected_sum(const struct link *l, uint64_t ops)
{
    if (l->bytes >= sizeof(uint64_t))
        return ops * (ops - 1) / 2;
    uint64_t rest = ops % 256;
    return ops / 256 * (255 * 256 / 2) + rest * (rest - 1) / 2;
}

/* Each of these messages has a content of its own; it must come out whole there and come back whole. */
static uint64_t check_messages(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < CHECKED; i++) {
        pattern_fill(l->message, l->bytes, s->seed + i);
        if (!trips->send(l))
            fail(s, call);
        memset(l->message, 0xAA, l->bytes);
        if (!trips->receive(l))
            fail(s, call);
        wrong += pattern_first_wrong(l->message, l->bytes, s->seed + i) != l->bytes;
    }
    pattern_fill(l->message, l->bytes, s->seed);
    return wrong;
}

static uint64_t check_answers(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < CHECKED; i++) {
        memset(l->message, 0xAA, l->bytes);
        if (!trips->receive(l))
            fail(s, call);
        wrong += pattern_first_wrong(l->message, l->bytes, s->seed + i) != l->bytes;
        if (!trips->send(l))
            fail(s, call);
    }
    return wrong;
}

/* A law holds this too, where it is recorded; in the other rounds a lost, repeated or old message ends the cell. */
static void in_turn(struct slot *s, const struct link *l, uint64_t sum, const char *call)
{
    if (!s->proofs && sum != expected_sum(l, s->ops))
        fail_because(s, call, "a message was lost, repeated or old");
}

/* Each trip is timed by itself after a pause without any; the sum of the trips is the phase. Returns the pauses' time. */
static uint64_t idle_trips(struct slot *s, struct link *l, const struct trips *trips, const char *phase, uint64_t *sum)
{
    uint64_t paused = 0, spent = 0;
    bool ok = true;
    for (uint64_t i = 0; i < s->ops && ok; i++) {
        struct timespec pause = {(time_t)(idle_ns(s) / 1000000000), (long)(idle_ns(s) % 1000000000)};
        uint64_t start = now_ns();
        nanosleep(&pause, NULL);
        paused += now_ns() - start;
        stamp(l, i);
        SERIES_PHASE(s, phase) { ok = trips->send(l) && trips->receive(l); }
        *sum += stamp_of(l);
        uint64_t all = series_so_far(s, phase).wall_ns;
        latencies[i] = all - spent;
        spent = all;
    }
    if (!ok)
        fail(s, "send or receive");
    return paused;
}

void message_ask(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    uint64_t ops = s->ops, sum = 0, timed_sum = 0;
    bool ok = true, idle = idle_ns(s) != 0;
    if (s->proofs)
        fact(s, "wrong_messages", check_messages(s, l, trips, call));
    fact(s, "settled_us", settle(s, l, trips, call) / 1000);
    first_trip(s, l, trips, call);
    fact(s, "pause_us", idle_ns(s) / 1000);
    if (idle)
        fact(s, "idle_us", idle_trips(s, l, trips, "round-trips", &sum) / 1000);
    else
        PHASE(s, "round-trips") { ok = trips->ask(l, ops, &sum); }
    if (!ok)
        fail(s, call);
    outer_trip(s, l, trips, call);
    in_turn(s, l, sum, call);
    fact(s, "sequence_sum", sum);
    fact(s, "expected_sequence_sum", expected_sum(l, ops));
    if (s->proofs) {
        first_trip(s, l, trips, call);
        if (idle)
            (void)idle_trips(s, l, trips, "timed-trips", &timed_sum);
        else
            PHASE(s, "timed-trips") { ok = trips->ask_timed(l, ops, &timed_sum, latencies); }
        if (!ok)
            fail(s, call);
        outer_trip(s, l, trips, call);
        if (timed_sum != sum)
            fail_because(s, call, "a message of the timed trips was lost, repeated or old");
        latency_record(s, latencies, ops);
    }
    fact_digest(s, l->message, l->bytes); /* the last message */
}

void message_answer(struct slot *s, struct link *l, const struct trips *trips, const char *call)
{
    uint64_t ops = s->ops, sum = 0, timed_sum = 0;
    bool ok = false;
    if (s->proofs)
        fact(s, "b.wrong_messages", check_answers(s, l, trips, call));
    settle_along(s, l, trips, call);
    meet_placed(s, l);
    PHASE(s, "round-trips") { ok = trips->answer(l, ops + 2, &sum); }
    if (!ok)
        fail(s, call);
    in_turn(s, l, sum, call);
    fact(s, "b.sequence_sum", sum);
    if (s->proofs) {
        meet_placed(s, l);
        PHASE(s, "timed-trips") { ok = trips->answer(l, ops + 2, &timed_sum); }
        if (!ok)
            fail(s, call);
        if (timed_sum != sum)
            fail_because(s, call, "a message of the timed trips was lost, repeated or old");
    }
    fact_digest(s, l->message, l->bytes); /* the last message */
}

int accept_for_a_while(int listener)
{
    struct timeval limit = {.tv_sec = 10};
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int connected;
    while ((connected = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0 && errno == EINTR)
        continue; /* with a time limit a call is not begun again by the kernel, after SIGCONT for one */
    return connected;
}
