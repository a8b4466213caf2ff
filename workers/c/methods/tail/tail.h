/* What the `tail` methods share: single operations, each timed by itself and counted into a histogram.
 *
 * Closed loop: the end of one operation is the start of the next, so that no time between operations is left out. Open loop:
 * operation i is due at i times the interval, whether the one before has ended or not, and its latency counts from then. */
#ifndef PAGEWISE_TAIL_H
#define PAGEWISE_TAIL_H
#include "worker.h"

#define TAIL_PHASES "each"
#define TAIL_KEYS "ops:count load:closed|open"
/* Nothing was left out: latencies of a closed loop add up to its time, but for what was read after a stall. In an open loop no
 * operation begins before it is due. */
#define TAIL_LAWS                                                                                                      \
    "each.ops == ops; timed_ops == ops; load=closed: 100 * (latency_sum_ns + aside_ns) >= 99 * each.wall_ns; "          \
    "load=open: each.wall_ns * 100 >= 99 * ops * interval_ns"

enum { STALL_NS = 20000, TRIAL_OPS = 1001 };

struct tail {
    uint64_t *ns;          /* latency of each operation */
    size_t ops;
    bool open;
    uint64_t interval_ns;  /* of an open loop */
    uint64_t stalls, stalls_switched, stalls_faulted, aside_ns;
};

struct tail tail_begin(struct slot *s);
/* After an operation beyond STALL_NS, outside of its time: what the kernel did to this thread meanwhile. */
void tail_stalled(struct tail *t);
void tail_interval(struct tail *t); /* from the times of TRIAL_OPS operations: twice their median */
void tail_end(struct slot *s, struct tail *t);

/* Both loops around one operation, which sees its number as `i`. */
#define TAIL_LOOP(t, operation)                                                                                        \
    do {                                                                                                               \
        uint64_t *ns_ = (t)->ns, interval_ = (t)->interval_ns, begun_ = now_ns(), before_ = begun_, after_;              \
        size_t ops_ = (t)->ops;                                                                                        \
        if ((t)->open)                                                                                                 \
            for (size_t i = 0; i < ops_; i++) {                                                                        \
                uint64_t due_ = begun_ + i * interval_;                                                                \
                while (now_ns() < due_)                                                                                \
                    ;                                                                                                  \
                operation;                                                                                             \
                ns_[i] = now_ns() - due_;                                                                              \
            }                                                                                                          \
        else                                                                                                           \
            for (size_t i = 0; i < ops_; i++) {                                                                        \
                operation;                                                                                             \
                ns_[i] = (after_ = now_ns()) - before_;                                                                \
                before_ = after_;                                                                                      \
                if (ns_[i] > STALL_NS) {                                                                               \
                    tail_stalled(t);                                                                                   \
                    before_ = now_ns();                                                                                \
                    (t)->aside_ns += before_ - after_;                                                                 \
                }                                                                                                      \
            }                                                                                                          \
    } while (0)

/* A short closed loop before the phase, which finds the interval of an open one. */
#define TAIL_TRIAL(t, operation)                                                                                       \
    do {                                                                                                               \
        size_t all_ = (t)->ops;                                                                                        \
        bool open_ = (t)->open;                                                                                        \
        (t)->ops = all_ < TRIAL_OPS ? all_ : TRIAL_OPS;                                                                \
        (t)->open = false;                                                                                             \
        TAIL_LOOP(t, operation);                                                                                       \
        tail_interval(t);                                                                                              \
        (t)->ops = all_;                                                                                               \
        (t)->open = open_;                                                                                             \
    } while (0)
#endif
