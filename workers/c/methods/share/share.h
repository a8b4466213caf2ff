/* What the `share` methods have in common: phases, keys, laws, the measured loops, the proofs. A method only says how its
 * memory comes to be shared; everything that is done to the memory afterwards is the same for all of them. */
#ifndef PAGEWISE_SHARE_H
#define PAGEWISE_SHARE_H
#include "worker.h"

#define SHARE_PHASES "map first-touch random-write clear random-read unmap"
#define SHARE_KEYS "bytes:size ops:count clear_bytes:size index:rand|xorshift load:0|25%"
/* Content: every store found where its index says, every byte zero after clearing, every read returned the byte that was
 * there. Load: the other process really took its share of a CPU while the slot ran. */
#define SHARE_CONTENT_LAWS                                                                                             \
    "lost_writes == 0; cleared == 1; read_sum == expected_read_sum; "                                                  \
    "100 * load_cpu_ns + 5 * load_wall_ns >= load_percent * load_wall_ns; "                                            \
    "100 * load_cpu_ns <= load_percent * load_wall_ns + 5 * load_wall_ns"
/* One fault a page, base or huge as the kernel chose, and none afterwards: what is shared memory stays mapped. */
#define SHARE_TOUCH_LAW                                                                                                \
    "first-touch.minor_faults + first-touch.major_faults == (bytes - huge_bytes) / page_bytes + huge_bytes / huge_page_bytes"
#define SHARE_RESIDENT_LAWS "random-write.minor_faults == 0; clear.minor_faults == 0; random-read.minor_faults == 0"
#define SHARE_LAWS "shared == 1; backed_as_named == 1; " SHARE_TOUCH_LAW "; " SHARE_RESIDENT_LAWS "; " SHARE_CONTENT_LAWS

/* Before the map phase: checks the cell, starts the load. */
void share_begin(struct slot *s);
/* After it: proves by /proc/self/maps that the mapping is shared (or not) and backed by what `backing` is part of. */
void share_proof(struct slot *s, const char *p, const char *backing);
/* The phases from first-touch to random-read and the check of each; the load ends here, before unmap. */
void share_use(struct slot *s, char *p);
/* The same in three steps, for a method that runs something beside random-write. */
void share_touch(struct slot *s, char *p);
void share_write(struct slot *s, char *p);
void share_check_clear_read(struct slot *s, char *p);

/* Fails with ENOSPC unless the file system of `fd` has room: a store into a full one would be a SIGBUS. */
void share_check_room(struct slot *s, int fd);
/* Records the kind of file system as a fact; true for one that lives in memory. */
bool share_in_memory(struct slot *s, int fd);
/* A shmget() that failed, with the limit that it met: one segment's size, or how much all of them may be. */
__attribute__((noreturn)) void share_no_segment(struct slot *s);
/* The words for an empty pool of huge pages; skips when `bytes` are no whole number of them. */
void share_check_huge(struct slot *s);
__attribute__((noreturn)) void share_skip_pool(struct slot *s);

/* load.c: `load=25%`, another process that takes that share of one CPU. */
void load_start(struct slot *s);
void load_stop(struct slot *s);
#endif
