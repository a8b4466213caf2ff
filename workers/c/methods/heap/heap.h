/* What the `heap` methods share: the life of a heap, and what is proved of it. */
#ifndef PAGEWISE_HEAP_H
#define PAGEWISE_HEAP_H
#include "worker.h"

#define HEAP_PHASES "build churn hand-over free-most free-rest grow"
#define HEAP_KEYS "bytes:size turnover:count"
/* What was written was found again wherever it was looked for, everything alive was resident, each object was freed once, and
 * those that were handed over by the thread that got them. 32768 is the largest object. */
#define HEAP_LAWS                                                                                                      \
    "wrong_objects == 0; live_bytes >= bytes; live_bytes <= bytes + 32768; "                                           \
    "build.rss_bytes + huge_before_bytes >= live_bytes; "                                                              \
    "build.ops == objects; churn.ops == objects * turnover; freed_objects == objects * (turnover + 1) + handed_objects; " \
    "10 * handed_objects <= objects + 9; 10 * handed_objects >= objects; "                                             \
    "free-most.ops + free-rest.ops == objects; 10 * free-rest.ops <= objects + 9; 10 * free-rest.ops >= objects; "     \
    "grown_bytes >= bytes; wrong_grown == 0; free-most.rss_bytes + huge_before_bytes >= kept_bytes; "                  \
    "kept_bytes <= bytes / 4 + 32768; "                                                                                \
    "hand-over.ops == handed_objects"
/* Which calls a library makes, and when, depends on its version and settings; glibc's own tell more in `allocate`. */
#define HEAP_ANY "brk?,mmap?,munmap?,mprotect?,madvise?,mremap?,futex?,getrandom?,access?"
#define HEAP_CALLS                                                                                                     \
    "build:" HEAP_ANY " churn:" HEAP_ANY " grow:" HEAP_ANY " hand-over:" HEAP_ANY " free-most:" HEAP_ANY               \
    " free-rest:" HEAP_ANY
#define HEAP_MEMORY "8 * bytes + 64 * 1024 * 1024"

/* Passes the whole life with whatever malloc this process has; skips unless that is `library` (NULL: glibc). */
void heap_run(struct slot *s, const char *library, const char *package);
#endif
