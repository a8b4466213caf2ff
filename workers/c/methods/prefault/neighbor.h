/* `neighbor=`: a second thread of this process, or a second process, that does short operations at fixed times while a method
 * works: whom the work stalls. Open loop: operation i is due at i times the interval, whether the one before has ended or not,
 * and its latency counts from then. Before the work it does the same while nothing else runs: the idle tail. */
#ifndef PAGEWISE_PREFAULT_NEIGHBOR_H
#define PAGEWISE_PREFAULT_NEIGHBOR_H
#include "latency.h"
#include <stdatomic.h>

#define NEIGHBOR_KEY " neighbor:none|same-process|other-process"
enum { NEIGHBOR_IDLE_OPS = 400, NEIGHBOR_SLICE = 64 };
#define NEIGHBOR_INTERVAL_NS 50000u /* where four operations fit into it; else twice as much, and so on */
#define NEIGHBOR_BYTES (32ul << 20) /* of the second process: fresh pages for so long that none of its own come back */
/* It ran beside the work and did all that was due; with none nothing did. A thread's mapping is never touched, so that every
 * fault of its process is the method's; each operation of a process is one fault. It kept its CPU. */
#define NEIGHBOR_LAWS                                                                                                  \
    "neighbor=none: neighbor_ops == 0; neighbor=same-process: neighbor_ops >= 1; neighbor=other-process: "             \
    "neighbor_ops >= 1; neighbor=same-process: neighbor_faults == 0; neighbor=other-process: "                         \
    "neighbor_faults == idle_ops + neighbor_ops; neighbor_ops > 0: neighbor_refused == 0; "                            \
    "neighbor_ops > 0: idle_ops == 400; neighbor_ops > 0: "                                                            \
    "(neighbor_ops + 2) * neighbor_interval_ns >= populate.wall_ns + pin.wall_ns; "                                    \
    "neighbor_ops > 0: 50 * foreign_neighbor_switches <= idle_ops + neighbor_ops"

/* What both sides know, in memory that they share. */
struct neighbor {
    bool process;                      /* it touches fresh pages, a thread maps and unmaps one */
    int cpu;
    _Atomic unsigned opened, closed;   /* windows of work: those that have begun, and those that it has left */
    _Atomic uint64_t begin_ns, end_ns; /* of the window; an end of 0 is not known yet */
    _Atomic bool ready, ending;
    int error;                         /* of a call before it was ready */
    uint64_t interval_ns, refused, faults, switches;
    uint64_t idle[LATENCY_BUCKETS], beside[LATENCY_BUCKETS];
    /* Its own: */
    char *pages;
    size_t page_bytes, page, next;
};
/* The whole life of the thread or process: idle tail, then windows until the end. */
void neighbor_live(struct neighbor *me);

/* The method's side; all of it does nothing with neighbor=none. Open: after pin_threads(), and before addresses are looked
 * for, which a thread's stack could come to have. Returns when the idle tail is there. */
void neighbor_open(struct slot *s);
void neighbor_begin(void);
void neighbor_pause(struct slot *s); /* what follows until the next neighbor_begin() is no work of the method */
void neighbor_close(struct slot *s); /* outside any phase: facts and latencies */
void neighbor_leave(void);           /* the slot ended early */
#endif
