/* What the stand-alone programs of the benches share: the worker's clock, and addresses aligned and guarded as it has them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static char *free_range(size_t bytes)
{
    size_t huge = 2 << 20;
    char *area = mmap(NULL, bytes + 3 * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    munmap(area, bytes + 3 * huge);
    return (char *)(((uintptr_t)area + 2 * huge - 1) / huge * huge);
}
static char *mapped(size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    char *p = mmap(free_range(bytes), bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED) exit(1);
    return p;
}
