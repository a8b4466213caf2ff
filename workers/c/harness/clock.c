/* The clock of all measurements. */
#include "core.h"
#include <time.h>

static inline uint64_t ns_by(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
    return ns_by(CLOCK_MONOTONIC);
}

uint64_t thread_cpu_ns(void)
{
    return ns_by(CLOCK_THREAD_CPUTIME_ID);
}

/* What one clock read costs, in nanoseconds: the smallest mean of 64 rows of 65 reads. */
uint64_t clock_read_ns(void)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t start = now_ns();
        for (int j = 0; j < 64; j++)
            now_ns();
        uint64_t each = (now_ns() - start) / 65;
        if (each < best)
            best = each;
    }
    return best;
}
