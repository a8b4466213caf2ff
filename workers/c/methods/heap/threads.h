/* Several threads, each with a heap of its own: what they lose to each other is the allocator's. */
#ifndef PAGEWISE_HEAP_THREADS_H
#define PAGEWISE_HEAP_THREADS_H
#include "heap.h"

#define HEAP_THREADS_PHASES "build churn free-rest"
#define HEAP_THREADS_KEYS "bytes:size turnover:count threads:count"
#define HEAP_THREADS_LAWS                                                                                              \
    "wrong_objects == 0; live_bytes >= bytes - 32768 * threads; live_bytes <= bytes + 32768 * threads; "               \
    "build.ops == objects; churn.ops == objects * turnover; freed_objects == objects * (turnover + 1); "       \
    THREADS_LAWS
#define HEAP_THREADS_CALLS "build:" HEAP_ANY " churn:" HEAP_ANY " free-rest:" HEAP_ANY

/* The life of `threads` heaps of bytes / threads each. */
void heap_threads_run(struct slot *s, const char *library, const char *package);
#endif
