/* A pass under a memory bound, second by second: a mean would hide the seconds in which nothing moves. */
#ifndef PAGEWISE_READ_SERIES_H
#define PAGEWISE_READ_SERIES_H
#include "worker.h"

/* Before the clock: starts a thread that sleeps and, once a second, notes what this process has had read from the device, its
 * major faults, and how long anything on the machine waited for memory and for I/O. */
void series_begin(struct slot *s);
/* After the pass: stops the thread, if there is one; returns how many read calls it made while the pass went on. */
uint64_t series_end(void);
void series_fact(struct slot *s);
#endif
