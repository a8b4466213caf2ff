/* What the `selftest` methods share: work whose amount is known exactly and proved by its result. */
#ifndef PAGEWISE_SELFTEST_H
#define PAGEWISE_SELFTEST_H
#include "worker.h"

enum { STEPS_PER_BATCH = 1000 };

/* Takes so many steps of a linear congruential generator. One copy of the machine code serves every method, so that cells
 * differ in the number of steps and in nothing else. */
uint64_t take_steps(uint64_t state, uint64_t steps);
/* Where that many steps must lead, by jumping ahead (Brown 1994): proves the number of steps without taking them. */
uint64_t after_steps(uint64_t state, uint64_t steps);
#endif
