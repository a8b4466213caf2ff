/* Where CPUs lie to each other. */
#ifndef PAGEWISE_PLACE_H
#define PAGEWISE_PLACE_H
#include <sched.h>

/* Numbers are the kernel's; one core's CPUs have the same `core`. */
struct place {
    int cpu, core, l3, node;
};
struct place place_of(int cpu);
/* Two of the allowed CPUs that lie to each other as `pin` asks; NULL, or why there are no such two. */
const char *choose_cpus(const char *pin, const cpu_set_t *allowed, int chosen[2]);
#endif
