/* Memory in which a tracer (helper: count) and a preloaded library (preload/count.c) count what a worker does. They make it
 * slow, so nothing that is timed is counted. */
#ifndef PAGEWISE_COUNTS_H
#define PAGEWISE_COUNTS_H
#include <stdint.h>

/* The variable that holds the descriptor of the memory. */
#define COUNTS_VARIABLE "PAGEWISE_COUNTS"

/* The columns of a transcript: the tracer's, then the library's. */
enum { COUNT_CALLS, COUNT_READ, COUNT_WRITTEN, COUNT_ALLOCATIONS, COUNT_ALLOCATED, COUNT_COPIED, COUNTS };

struct counts {
    uint64_t count[COUNTS];
    uint32_t traced, preloaded; /* whether somebody counts these */
};
#endif
