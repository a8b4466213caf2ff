/* The published P4 program, flaws included: one process, in this order and once each: malloc and memset to 0, free, an
 * anonymous mapping and memset to 1. Either half is a method; the other half is done beside it, by the program's own clock
 * only. */
#ifndef PAGEWISE_ALLOCATE_PUBLISHED_H
#define PAGEWISE_ALLOCATE_PUBLISHED_H
#include "allocate.h"
#include <time.h>

#define PUBLISHED_PHASES "allocate-and-fill"
/* The published clock and ours agree on the half that both of them time. */
#define CLOCK_LAWS(half)                                                                                               \
    "bytes >= 1048576: 100 * " half "_raw_ns >= 99 * allocate-and-fill.wall_ns; " \
    "bytes >= 1048576: 100 * " half "_raw_ns <= 101 * allocate-and-fill.wall_ns + 100 * 100000"
/* Both blocks were whole, and the first was given back before the second was asked for. */
#define SEQUENCE_LAWS                                                                                                  \
    GLIBC_LAWS "; zeros_right == 1; ones_right == 1; bytes >= 262144: mmapped_blocks == 1; "                           \
    "bytes >= 1048576: between.anonymous_bytes <= before.anonymous_bytes + 512 * 1024"

/* The clock of the published program. */
static inline uint64_t raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Keeps an optimising compiler from making one calloc of malloc and memset; the published program was not optimised. */
#define SEEN(p) __asm__ volatile("" : "+r"(p)::"memory")

void published_begin(struct slot *s);
/* After each half; they read the blocks, so a half that is timed later has its first block looked at but not read. */
void published_zeros(struct slot *s, const char *block, bool read_all);
void published_between(struct slot *s);
void published_ones(struct slot *s, const char *block);
#endif
