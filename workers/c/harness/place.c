/* See place.h. Never timed. */
#include "place.h"
#include "core.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The first number in a small file of /sys, or `otherwise`. */
static int sysfs_number(const char *path, int otherwise)
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

/* The cache of level 3 that a CPU uses; without one reported, its package, which is what such caches belong to. */
static int l3_of(int cpu)
{
    char path[128];
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, i);
        int level = sysfs_number(path, -1);
        if (level == 3) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, i);
            int first = sysfs_number(path, 0); /* some kernels give the cache no id of its own */
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/id", cpu, i);
            return sysfs_number(path, first);
        }
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    int package = sysfs_number(path, 0);
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

struct place place_of(int cpu)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    return (struct place){cpu, sysfs_number(path, cpu), l3_of(cpu), node_of(cpu)};
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

const char *choose_cpus(const char *pin, const cpu_set_t *allowed, int chosen[2])
{
    struct place *all = arena((size_t)CPU_COUNT(allowed) * sizeof *all);
    int count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, allowed))
            all[count++] = place_of(cpu);
    return choose(pin, all, count, chosen);
}
