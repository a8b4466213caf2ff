/* What the independent programs share: a clock, a CPU, and ways that are taken in turn. */
#ifndef TRUTH_H
#define TRUTH_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HUGE (2ul << 20)

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline void die(const char *what)
{
    perror(what);
    exit(1);
}

static inline int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static inline void run_on(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one))
        die("sched_setaffinity");
}

/* Memory at a huge page's boundary, in base pages or in huge ones; untouched. */
static inline char *anonymous(size_t bytes, int huge)
{
    char *p = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        die("mmap");
    size_t before = -(uintptr_t)p % HUGE;
    if (before)
        munmap(p, before);
    if (before < HUGE)
        munmap(p + before + bytes, HUGE - before);
    madvise(p + before, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return p + before;
}

static inline char *shared(size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED)
        die("mmap");
    return p;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}

static inline double middle(double *values, int count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Takes the ways in turn, each round beginning with another one, and prints the median of each and the lower quartile.
 * The first round warms up. */
static inline void take_turns(char **ways, int count, int rounds, double (*once)(const char *way))
{
    double *ns = calloc((size_t)count * rounds, sizeof *ns);
    for (int r = -1; r < rounds; r++)
        for (int i = 0; i < count; i++) {
            int w = (i + r + 1) % count;
            double spent = once(ways[w]);
            if (r >= 0)
                ns[w * rounds + r] = spent;
        }
    for (int w = 0; w < count; w++) {
        double median = middle(ns + w * rounds, rounds);
        printf("%s %.4f %.4f\n", ways[w], median, ns[w * rounds + rounds / 4]);
    }
}
#endif
