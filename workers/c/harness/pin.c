/* See pin.h. Never timed. */
#include "pin.h"
#include "core.h"
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static cpu_set_t before; /* the CPUs that this process was started with */
static bool pinned;

/* Where a CPU lies. Numbers are the kernel's; one core's CPUs have the same `core`. */
struct place {
    int cpu, core, l3, node;
};

/* The first number in a small file of /sys, or `otherwise`. */
static int number_in(const char *path, int otherwise)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return otherwise;
    int number;
    if (fscanf(file, "%d", &number) != 1)
        number = otherwise;
    fclose(file);
    return number;
}

/* The cache of level 3 that a CPU uses; where the kernel tells of none, its package, which is what such caches belong to. */
static int l3_of(int cpu)
{
    char path[128];
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i);
        int level = number_in(path, -1);
        if (level == 3) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
            int first = number_in(path, 0); /* some kernels give the cache no id of its own */
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/id", cpu, i);
            return number_in(path, first);
        }
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    int package = number_in(path, 0);
    return package < 0 ? 0 : package;
}

static int node_of(int cpu)
{
    char path[128];
    int node = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name, "node", 4) == 0 && entry->d_name[4] >= '0' && entry->d_name[4] <= '9')
            node = atoi(entry->d_name + 4);
    if (folder)
        closedir(folder);
    return node;
}

static struct place place_of(int cpu)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return (struct place){cpu, number_in(path, cpu), l3_of(cpu), node_of(cpu)};
}

/* Whether two CPUs lie to each other as `pin` asks. */
static bool suits(const char *pin, const struct place *a, const struct place *b)
{
    if (strcmp(pin, "far") == 0)
        return a->node != b->node;
    return a->node == b->node && (strcmp(pin, "l3") == 0) == (a->l3 == b->l3);
}

/* Two of the `count` CPUs for the sides, of different cores where that can be; NULL, or why there are no such two. */
static const char *choose(const char *pin, const struct place *all, int count, int chosen[2])
{
    chosen[0] = chosen[1] = all[0].cpu;
    if (strcmp(pin, "same") == 0)
        return NULL;
    if (count < 2)
        return arena_text("pin=%s needs two CPUs, and one is allowed here", pin);
    for (int apart = 1; apart >= 0; apart--)
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count; j++)
                if ((!apart || all[i].core != all[j].core) && suits(pin, &all[i], &all[j])) {
                    chosen[0] = all[i].cpu;
                    chosen[1] = all[j].cpu;
                    return NULL;
                }
    if (strcmp(pin, "far") == 0)
        return "pin=far needs CPUs of two NUMA nodes, and those that are allowed here are of one";
    if (strcmp(pin, "node") == 0)
        return "pin=node needs two last-level caches in one NUMA node, and no two allowed CPUs have that here";
    return "pin=l3 needs two CPUs that share a last-level cache, and no two allowed CPUs do here";
}

/* Chooses among the CPUs of `before`. */
static const char *choose_allowed(const char *pin, int chosen[2])
{
    struct place *all = arena((size_t)CPU_COUNT(&before) * sizeof *all);
    int count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before))
            all[count++] = place_of(cpu);
    return choose(pin, all, count, chosen);
}

void pin_begin(struct slot *s)
{
    static const char *known;
    static const char *obstacle;
    static int chosen[2];
    const char *pin = key_word(s, "pin");
    if (!*pin || strcmp(pin, "none") == 0)
        return;
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        fail(s, "sched_getaffinity");
    if (!known || strcmp(known, pin) != 0) {
        obstacle = choose_allowed(pin, chosen);
        known = pin;
    }
    if (obstacle) {
        sides_agree = true;
        skip(s, obstacle);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(chosen[s->role == 'b'], &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail(s, "sched_setaffinity");
    pinned = true;
}

void pin_end(void)
{
    if (pinned)
        (void)sched_setaffinity(0, sizeof before, &before);
    pinned = false;
}

void pin_facts(struct slot *s)
{
    int32_t mine = sched_getcpu(), theirs = -1;
    if (!*key_word(s, "pin"))
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

/* `WORKER choose-cpus PIN`: for workers in other languages, the two CPUs, or `skip REASON`. */
int choose_cpus_main(const char *pin)
{
    static const char *const words[] = {"same", "l3", "node", "far"};
    int chosen[2], word = 0;
    while (word < 4 && strcmp(pin, words[word]) != 0)
        word++;
    if (word == 4 || sched_getaffinity(0, sizeof before, &before) != 0)
        return 2;
    const char *obstacle = choose_allowed(pin, chosen);
    if (obstacle)
        out("skip %s\n", obstacle);
    else
        out("%d %d\n", chosen[0], chosen[1]);
    out_flush();
    return 0;
}

/* `WORKER place-of CPU`: its last-level cache and NUMA node. */
int place_of_main(const char *cpu)
{
    struct place place = place_of(atoi(cpu));
    out("%d %d\n", place.l3, place.node);
    out_flush();
    return 0;
}
