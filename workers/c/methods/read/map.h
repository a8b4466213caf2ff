/* What the mapped methods share: all that is not timed, one pass over the mapping, and the laws of a file whose pages were all
 * mapped in. */
#ifndef PAGEWISE_READ_MAP_H
#define PAGEWISE_READ_MAP_H
#include "read.h"

/* No read call brought the bytes. Under a memory bound pages are taken away again while the pass goes on. A walk of headers
 * that jumps over large packets need not touch every page. The kernel may take pages back before they are looked for: once 1
 * and once 9 of 32,768 were gone here (the cause was not found). One in 64 and four more may be missing. */
#define MAP_LAWS                                                                                                       \
    READ_LAWS "; " HOT_LAW "; calls_counted == 1: read_calls == 0; "                                                   \
              "consume=sum & memory=unbounded: 64 * mapped_bytes + 256 * page_bytes >= 63 * bytes; "                   \
              "consume=none & memory=unbounded: 64 * mapped_bytes + 256 * page_bytes >= 63 * bytes; "                  \
              "consume=payload & memory=unbounded: 64 * mapped_bytes + 256 * page_bytes >= 63 * bytes; "               \
              "consume=sum & cache=cold & counted == 1: device_bytes >= stored_bytes; "                                \
              "consume=sum & cache=dropped & counted == 1: device_bytes >= stored_bytes; "                             \
              "consume=payload & cache=cold & counted == 1: device_bytes >= stored_bytes; "                            \
              "consume=payload & cache=dropped & counted == 1: device_bytes >= stored_bytes"
/* How it was mapped and what was advised, as the kernel has it (smaps). */
#define PLAIN_LAWS "shared_mapping == 0; sequential_advice == 0; random_advice == 0"
/* Opening and mapping alone bring nothing into the cache. */
#define LAZY_LAWS "cache=cold: resident_after_open_bytes == 0; cache=dropped: resident_after_open_bytes == 0"
/* The faults are taken in the call that maps, none is left to the pass. */
#define POPULATE_LAWS                                                                                                  \
    MAP_LAWS "; memory=unbounded: read.minor_faults == 0; memory=unbounded: read.major_faults == 0; "                  \
             "memory=unbounded: 64 * mapped_bytes + 256 * page_bytes >= 63 * bytes; "                                  \
             "memory=unbounded: resident_after_open_bytes == bytes; " PLAIN_LAWS

/* Goes through the mapping in the order of the steps: one step in sequential order, one a block in random order. */
static inline void map_pass(struct input *in, const char *p)
{
    for (size_t i = 0; i < in->steps; i++) {
        size_t offset = step_offset(in, i);
        consume(&in->sink, p + offset, bytes_at(in, offset));
    }
}

/* Before the clock: read_begin() for a mapping, and a place for it. */
char *map_begin(struct slot *s, struct input *in);
/* After the phase that opens, maps and advises: stops at the first of these calls that failed. */
void map_check(struct slot *s, struct input *in, int descriptor, const void *mapped, int advised);
/* After the pass: check_pass(), then the bytes that are mapped in, as /proc/self/smaps has it. */
void map_proofs(struct slot *s, struct input *in, const void *mapped);
#endif
