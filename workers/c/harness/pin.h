/* `pin=`: where the two sides of a launch run. A method with two sides lists PIN_KEY among its keys and PIN_LAWS among its
 * laws, one with a pager PIN_KEY alone; worker.c pins each side before the slot, records where both ran after it, and lets
 * both run anywhere again. */
#ifndef PAGEWISE_PIN_H
#define PAGEWISE_PIN_H
#include "worker.h"

/* none: wherever the scheduler puts them. same: one CPU. l3: two CPUs of one last-level cache and one NUMA node, of different
 * cores where there are such. node: one NUMA node, two last-level caches. far: two NUMA nodes. */
#define PIN_KEY "pin:none|same|l3|node|far"
/* Compared with the CPUs that the two sides were found on, not against those that were asked for. */
#define PIN_LAWS                                                                                                       \
    "pin=same: cpus == 1; pin=l3: cpus == 2; pin=l3: l3s == 1; pin=l3: nodes == 1; pin=node: l3s == 2; "               \
    "pin=node: nodes == 1; pin=far: nodes == 2"

/* Does nothing where the cell has no `pin`. Where the machine has no such two CPUs, both sides skip the cell, for the same
 * reason: they choose by the same rule from the same CPUs. */
void pin_begin(struct slot *s);
/* Records `cpu`, `l3` and `node` (with `b.` before them on side b), and on side a how many different ones both sides had. */
void pin_facts(struct slot *s);
void pin_end(void);
/* In a method without sides: the CPU for its second thread or process, -1 where that may run anywhere. */
int pin_second(void);
/* The threads of `threads=N`, each on a CPU of its own until the slot ends; skips where there are fewer CPUs.
 * pin_threads_facts() records `cpus`: on how many they are found. */
void pin_threads(struct slot *s);
void pin_threads_facts(struct slot *s);
/* After pin_threads(): the CPU for one thread or process more; skips where there is none. */
int pin_beside(struct slot *s);
#endif
