/* Single latencies, counted into a histogram for the transcript. */
#ifndef PAGEWISE_LATENCY_H
#define PAGEWISE_LATENCY_H
#include "worker.h"

/* Operations that are timed by themselves come in a launch's last round: they leave caches and clocks in another state. */
bool latency_due(const struct slot *s);
void latency_record(struct slot *s, const uint64_t *ns, size_t count); /* outside any phase */
/* The same where the operations are counted as they end: too many for a list, or another process's. */
enum { LATENCY_BUCKETS = 64 + 32 * 58 };
int latency_bucket(uint64_t ns);
void latency_record_counts(struct slot *s, const uint64_t counts[LATENCY_BUCKETS]);
void latency_write(void);                                             /* the worker's own */
#endif
