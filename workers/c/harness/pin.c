/* See pin.h. Never timed. */
#include "pin.h"
#include "core.h"
#include "place.h"
#include <stdatomic.h>
#include <stdio.h>

static cpu_set_t before; /* the CPUs that this process was started with */
static bool pinned;
static int chosen[2];    /* the CPUs of the sides, or of a thread and its second one */

void pin_begin(struct slot *s)
{
    static const char *known;
    static const char *obstacle;
    const char *pin = key_word(s, "pin");
    if (!*pin || strcmp(pin, "none") == 0)
        return;
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        fail(s, "sched_getaffinity");
    if (!known || strcmp(known, pin) != 0) {
        obstacle = choose_cpus(pin, &before, chosen);
        known = pin;
    }
    if (obstacle)
        skip_alike(s, obstacle);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen[s->role == 'b'], &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail(s, "sched_setaffinity");
    pinned = true;
}

int pin_second(void)
{
    return pinned ? chosen[1] : -1;
}

static atomic_int last_cpu;             /* the one that the last thread took */
static atomic_int refused_error;
static _Atomic bool seen[CPU_SETSIZE];  /* a thread was found there */

static void take_cpu(const struct part *part)
{
    (void)part;
    int was = last_cpu, cpu;
    do
        for (cpu = was + 1; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &before); cpu++)
            ;
    while (!atomic_compare_exchange_weak(&last_cpu, &was, cpu));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        refused_error = errno;
}

static void look_at_cpu(const struct part *part)
{
    (void)part;
    int cpu = sched_getcpu();
    if (cpu >= 0 && cpu < CPU_SETSIZE)
        seen[cpu] = true;
}

void pin_threads(struct slot *s)
{
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        fail(s, "sched_getaffinity");
    if (s->threads > (unsigned)CPU_COUNT(&before))
        skip(s, arena_text("%u threads and %d CPUs: they would take turns", s->threads, CPU_COUNT(&before)));
    pinned = true;
    last_cpu = -1;
    refused_error = 0;
    pool_wake(s);
    on_every_thread(s, take_cpu, NULL, 0, 0);
    errno = refused_error;
    check_done(s, errno, "sched_setaffinity");
}

int pin_beside(struct slot *s)
{
    int cpu = last_cpu + 1;
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &before))
        cpu++;
    if (cpu == CPU_SETSIZE)
        skip(s, arena_text("threads=%u and a neighbor need %u CPUs and there are %d: they would take turns", s->threads,
                           s->threads + 1, CPU_COUNT(&before)));
    return cpu;
}

void pin_threads_facts(struct slot *s)
{
    uint64_t cpus = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        seen[cpu] = false;
    pool_wake(s);
    on_every_thread(s, look_at_cpu, NULL, 0, 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        cpus += seen[cpu];
    fact(s, "cpus", cpus);
}

void pin_end(void)
{
    if (pinned && sched_setaffinity(0, sizeof before, &before) != 0) {
        /* What follows would be measured on one processor. */
        dprintf(2, "sched_setaffinity: %s\n", strerror(errno));
        transcript_write(false);
        _exit(4);
    }
    pinned = false;
}

void pin_facts(struct slot *s)
{
    int32_t mine = sched_getcpu(), theirs = -1;
    if (!*key_word(s, "pin") || !s->cell->method->run_b)
        return;
    tell(s, &mine, sizeof mine);
    hear(s, &theirs, sizeof theirs);
    struct place here = place_of(mine), there = place_of(theirs);
    bool b = s->role == 'b';
    fact(s, b ? "b.cpu" : "cpu", (uint64_t)here.cpu);
    fact(s, b ? "b.l3" : "l3", (uint64_t)here.l3);
    fact(s, b ? "b.node" : "node", (uint64_t)here.node);
    if (b)
        return;
    fact(s, "cpus", mine == theirs ? 1 : 2);
    fact(s, "l3s", here.l3 == there.l3 ? 1 : 2);
    fact(s, "nodes", here.node == there.node ? 1 : 2);
}
