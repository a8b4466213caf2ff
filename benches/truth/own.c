/* Three loops, for a bare program (-DBARE) and for `pagewise bench`: own.py compares what each says they take. */
#ifdef BARE
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#else
#include <pagewise.h>
#endif
#include <stdlib.h>
#include <sys/mman.h>

#define BYTES (8 << 20)

static inline uint64_t steps(void)
{
    uint64_t x = 1;
    for (int i = 0; i < 1000000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static inline uint64_t touch(char *p)
{
    for (size_t at = 0; at < BYTES; at += 4096)
        ((volatile char *)p)[at] = 1;
    return 1;
}

static inline uint64_t allocate(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < 20000; i++) {
        char *volatile p = malloc(100);
        *p = 1;
        sum += (unsigned char)*p;
        free(p);
    }
    return sum;
}

static inline char *mapped(void)
{
    char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, BYTES, MADV_NOHUGEPAGE);
    return p;
}

#ifdef BARE
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    enum { TURNS = 41 };
    double spent[3][TURNS];
    volatile uint64_t result;
    for (int turn = -2; turn < TURNS; turn++) {
        double at[4];
        char *p = mapped();
        at[0] = now();
        result = steps();
        at[1] = now();
        result = touch(p);
        at[2] = now();
        result = allocate();
        at[3] = now();
        munmap(p, BYTES);
        for (int i = 0; turn >= 0 && i < 3; i++)
            spent[i][turn] = at[i + 1] - at[i];
    }
    (void)result;
    for (int i = 0; i < 3; i++) {
        qsort(spent[i], TURNS, sizeof **spent, by_value);
        printf("%.0f ", spent[i][TURNS / 2]);
    }
    printf("\n");
}
#else
BENCH(steps)
{
    uint64_t x;
    PHASE("work") { x = steps(); }
    fact(slot, "x", x);
}

BENCH(touch)
{
    char *p = mapped();
    PHASE("work") { touch(p); }
    munmap(p, BYTES);
}

BENCH(allocate)
{
    uint64_t sum;
    PHASE("work") { sum = allocate(); }
    fact(slot, "sum", sum);
}

BENCH(nothing)
{
    PHASE("work") { }
}
#endif
