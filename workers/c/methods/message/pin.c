/* `pin=`: where the two sides run. It is set for each slot and put back after it. */
#include "message.h"
#include <sched.h>
#include <stdio.h>

static cpu_set_t before;

static int nth_allowed(int n)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before) && n-- == 0)
            return cpu;
    return -1;
}

/* A text of /sys that is the same for two CPUs of one core. */
static void core_of(int cpu, char text[64])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, 64, file))
        snprintf(text, 64, "cpu%d", cpu);
    if (file)
        fclose(file);
}

/* The first allowed CPU that is no hyperthread of `other`; the next one where all of them are. */
static int apart_from(int other)
{
    char mine[64], theirs[64];
    core_of(other, mine);
    for (int n = 1, cpu; (cpu = nth_allowed(n)) >= 0; n++) {
        core_of(cpu, theirs);
        if (strcmp(mine, theirs) != 0)
            return cpu;
    }
    return nth_allowed(1);
}

void pin_begin(struct slot *s)
{
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        fail(s, "sched_getaffinity");
    bool spins = !*key_word(s, "wait") || key_is(s, "wait", "spin");
    if (spins && (key_is(s, "pin", "same") || CPU_COUNT(&before) < 2))
        skip(s, "two sides that spin on one CPU wait for the scheduler and not for each other");
    if (key_is(s, "pin", "none"))
        return;
    int first = nth_allowed(0), cpu = first;
    if (key_is(s, "pin", "apart") && CPU_COUNT(&before) < 2)
        skip(s, "pin=apart needs two CPUs, and one is allowed here");
    if (key_is(s, "pin", "apart") && s->role == 'b')
        cpu = apart_from(first);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail(s, "sched_setaffinity");
}

void pin_end(struct slot *s)
{
    if (sched_setaffinity(0, sizeof before, &before) != 0)
        fail(s, "sched_setaffinity");
}

void pin_fact(struct slot *s)
{
    int32_t mine = sched_getcpu(), theirs = -1;
    tell(s, &mine, sizeof mine);
    hear(s, &theirs, sizeof theirs);
    fact(s, s->role == 'b' ? "b.cpu" : "cpu", (uint64_t)mine);
    if (s->role == 'a')
        fact(s, "cpus", mine == theirs ? 1 : 2);
}
