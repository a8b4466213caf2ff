/* The life of a neighbor (neighbor.h), the same in a thread of the worker and in a process of the helper. */
#include "neighbor.h"
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { TRIAL_OPS = 257 };

/* A thread with the mmap lock for a moment: what an allocator does that has no room. */
static void map_and_unmap(struct neighbor *me)
{
    void *p = mmap(NULL, me->page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    me->refused += p == MAP_FAILED || munmap(p, me->page_bytes) != 0;
}

static void touch_fresh(struct neighbor *me)
{
    *(volatile char *)(me->pages + me->next * me->page_bytes) = 1;
}

/* After an operation, outside of its time: pages that were touched before are given back before they are reached again. */
static void step(struct neighbor *me)
{
    size_t pages = NEIGHBOR_BYTES / me->page_bytes;
    me->page++;
    me->next = me->page % pages;
    if (me->page >= pages && me->next % NEIGHBOR_SLICE == 0)
        me->refused += madvise(me->pages + me->next * me->page_bytes, NEIGHBOR_SLICE * me->page_bytes, MADV_DONTNEED) != 0;
}

static void operate(struct neighbor *me)
{
    if (me->process)
        touch_fresh(me);
    else
        map_and_unmap(me);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A closed loop that warms all it uses and finds an interval into which four operations fit. */
static void try_out(struct neighbor *me)
{
    uint64_t ns[TRIAL_OPS];
    for (int i = 0; i < TRIAL_OPS; i++) {
        uint64_t start = now_ns();
        operate(me);
        ns[i] = now_ns() - start;
        if (me->process)
            step(me);
    }
    qsort(ns, TRIAL_OPS, sizeof *ns, by_size);
    me->interval_ns = NEIGHBOR_INTERVAL_NS;
    while (me->interval_ns < 4 * ns[TRIAL_OPS / 2])
        me->interval_ns *= 2;
}

/* From `begin`: all operations that are due before the window ends, or `most`. */
static void run_window(struct neighbor *me, uint64_t begin, uint64_t most, uint64_t *counts)
{
    for (uint64_t i = 0; i < most; i++) {
        uint64_t due = begin + i * me->interval_ns, end;
        do {
            end = atomic_load_explicit(&me->end_ns, memory_order_acquire);
            if (end && due >= end)
                return;
        } while (now_ns() < due);
        operate(me);
        counts[latency_bucket(now_ns() - due)]++;
        if (me->process)
            step(me);
    }
}

static bool settle(struct neighbor *me)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(me->cpu, &cpus);
    me->error = sched_setaffinity(0, sizeof cpus, &cpus) != 0 ? errno : 0;
    memset(me->idle, 0, sizeof me->idle); /* so that no count is a page's first use */
    memset(me->beside, 0, sizeof me->beside);
    if (me->error || !me->process)
        return !me->error;
    me->pages = mmap(NULL, NEIGHBOR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (me->pages == MAP_FAILED)
        me->error = errno;
    else
        (void)madvise(me->pages, NEIGHBOR_BYTES, MADV_NOHUGEPAGE); /* EINVAL: a kernel without huge pages */
    return !me->error;
}

void neighbor_live(struct neighbor *me)
{
    struct rusage before, after;
    bool able = settle(me);
    if (able) {
        try_out(me);
        getrusage(RUSAGE_THREAD, &before);
        run_window(me, now_ns(), NEIGHBOR_IDLE_OPS, me->idle);
    }
    atomic_store(&me->ready, true);
    for (unsigned window = 1; able; window++) {
        while (atomic_load(&me->opened) < window && !atomic_load(&me->ending))
            pause_briefly();
        if (atomic_load(&me->opened) < window)
            break;
        run_window(me, me->begin_ns, UINT64_MAX, me->beside);
        getrusage(RUSAGE_THREAD, &after);
        me->faults = (uint64_t)(after.ru_minflt - before.ru_minflt);
        me->switches = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
        atomic_store(&me->closed, window);
    }
}
