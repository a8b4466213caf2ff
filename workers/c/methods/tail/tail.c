/* Shared by the `tail` methods: blocks, due times and the histogram of single operations. */
#include "tail.h"
#include "latency.h"
#include <stdlib.h>
#include <sys/resource.h>

static struct rusage last;

struct tail tail_begin(struct slot *s)
{
    struct tail t = {.ops = key_size(s, "ops"), .open = key_is(s, "load", "open")};
    size_t bytes = (t.ops < TRIAL_OPS ? TRIAL_OPS : t.ops) * sizeof *t.ns;
    t.ns = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, t.ns);
    mlock(t.ns, bytes); /* Where the limit forbids it, the pages are there all the same. */
    s->ops = t.ops;
    getrusage(RUSAGE_THREAD, &last);
    return t;
}

void tail_stalled(struct tail *t)
{
    struct rusage now;
    getrusage(RUSAGE_THREAD, &now);
    t->stalls++;
    t->stalls_switched += now.ru_nvcsw + now.ru_nivcsw > last.ru_nvcsw + last.ru_nivcsw;
    t->stalls_faulted += now.ru_minflt + now.ru_majflt > last.ru_minflt + last.ru_majflt;
    last = now;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void tail_interval(struct tail *t)
{
    qsort(t->ns, t->ops, sizeof *t->ns, by_size);
    t->interval_ns = 2 * t->ns[t->ops / 2];
    t->stalls = t->stalls_switched = t->stalls_faulted = t->aside_ns = 0;
    getrusage(RUSAGE_THREAD, &last);
}

void tail_end(struct slot *s, struct tail *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->ops; i++)
        sum += t->ns[i];
    fact(s, "timed_ops", t->ops);
    fact(s, "latency_sum_ns", sum);
    fact(s, "aside_ns", t->aside_ns);
    fact(s, "interval_ns", t->interval_ns);
    fact(s, "stalls", t->stalls);
    fact(s, "stalls_switched", t->stalls_switched);
    fact(s, "stalls_faulted", t->stalls_faulted);
    latency_record(s, t->ns, t->ops);
    munmap(t->ns, (t->ops < TRIAL_OPS ? TRIAL_OPS : t->ops) * sizeof *t->ns);
}
