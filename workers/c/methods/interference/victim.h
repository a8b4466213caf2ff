/* The victim of the `interference` methods (victim.c): another process, on a CPU of its own. */
#ifndef PAGEWISE_VICTIM_H
#define PAGEWISE_VICTIM_H
#include "latency.h"
#include <stdatomic.h>
#include <sched.h>

enum victim_stage { PREPARING, READY, AT_WORK, LAST_OPS, ENDED };

/* In memory that both processes share. */
struct victim {
    _Atomic int stage;
    _Atomic uint64_t worker_ended_ns;
    pid_t process;
    cpu_set_t before;      /* CPUs that the worker had, which it gets back */
    int file;              /* the hot set */
    size_t bytes, page;
    uint64_t seed, interval_ns, least_ops;
    bool maps;             /* it reads by a mapping */
    const char *map;
    int advice;            /* of the mapping, -1: none */
    const char *failed;
    int error;
    /* What the victim found. */
    uint64_t ops, wall_ns, wrong, major_faults, device_bytes;
    uint64_t counts[LATENCY_BUCKETS];
};

/* How often the victim passed over the hot set before the clock: its pages are used more than once, as the kernel sees it. */
enum { WARM_PASSES = 3 };

/* Starts it, and returns when it has warmed the hot set up; the worker leaves its CPU from then on. */
struct victim *victim_start(struct slot *s, int file, size_t bytes);
void victim_go(struct victim *v);
void victim_stop(struct slot *s, struct victim *v); /* waits for its last operation; facts and latencies follow */
#endif
