/* What the `prefault` methods share: memory of its own or shared, a CPU for each thread, pinning, the proofs, the way back. */
#ifndef PAGEWISE_PREFAULT_H
#define PAGEWISE_PREFAULT_H
#include "methods/fault/kinds.h"
#include "neighbor.h"

#define PREFAULT_PHASES "populate pin first-use teardown exit"
#define PLACE_KEYS(sharing, pinned) "bytes:size threads:count sharing:" sharing " pinned:" pinned NEIGHBOR_KEY
/* The reserved pool's pages are not among the free ones: only other methods have a state of these. */
#define PREFAULT_KEYS(sharing, pinned) PLACE_KEYS(sharing, pinned) " backing:recycled|cold idle_ms:count"
#define PREFAULT_MEMORY "bytes + 33554432" /* with a neighbor's */
#define EVERY_SHARING "private|shared|memfd|shm"
#define HUGE_SHARING "private|shared|memfd" /* /dev/shm goes by its own mount option */
#define EVERY_PIN "no|lock|ring"
/* Everything is there before the first use, and gone after the last phase. The kernel says what is pinned (Locked of smaps,
 * VmPin of status), and one thread runs on each CPU. */
#define PLACE_LAWS                                                                                                     \
    "cpus == threads; present_bytes == bytes; first-use.minor_faults == 0; first-use.major_faults == 0; "              \
    "mapped_after == 0; pinned=no: locked_bytes + ring_bytes == 0; pinned=ring: ring_bytes == bytes; "                 \
    "ring_bytes_after == 0; exit_bytes == bytes; exit_status == 0; " NEIGHBOR_LAWS "; " THREADS_LAWS
#define PREFAULT_LAWS                                                                                                  \
    "pinned=lock: locked_bytes == bytes; backing=recycled: backing_level_ps >= 1; " PLACE_LAWS
/* Where one thread touches private memory in huge pages, as the passes before did, in CPU time: the host of a virtual machine
 * held the frames, or had to find them. */
#define BACKED "threads=1 & sharing=private & pinned=no & neighbor=none & "
#define HUGE_BACKING_LAWS                                                                                              \
    BACKED "backing=recycled: 1000 * populate.cpu_ns <= 3 * backing_level_ps * (bytes / page_bytes); "                 \
    BACKED "backing=cold: 1000 * populate.cpu_ns >= 2 * backing_level_ps * (bytes / page_bytes)"
#define BASE_ONLY_LAWS "huge_bytes == 0; rss_bytes == bytes"
/* Of gigabytes some huge pages are often not to be had: what came instead are base pages, one fault each. Where three quarters
 * and more are base pages, the method's name says what is not so. */
#define HUGE_FAULT_LAW                                                                                                 \
    "sharing=private & small_folios == 0: "                                                                            \
    "populate.minor_faults == huge_bytes / huge_page_bytes + (bytes - huge_bytes) / page_bytes"
#define HUGE_LEAST_LAWS "4 * huge_bytes >= bytes; rss_bytes == bytes"
#define NO_FAULT_TO_PIN "pin.minor_faults == 0"
#define TEARDOWN_CALLS " pin:mlock?,io_uring_register? teardown:io_uring_register?,munmap exit:write,wait4"

/* Where a slot's memory goes, and how it is mapped there. */
struct memory {
    char *at;
    size_t bytes;
    int flags;      /* of mmap(2), MAP_FIXED_NOREPLACE among them */
    int descriptor; /* -1: anonymous */
    size_t pool;    /* bytes of a page where it is the reserved pool's, 0 otherwise */
};
#define GIANT_PAGE (1ul << 30)
#define NO_GIANT_PAGES "this machine has no pages of 1 GiB (pdpe1gb of /proc/cpuinfo, /sys/kernel/mm/hugepages)"

/* Untimed: checks the cell, pins the threads, opens what is shared, the rings and the neighbor. MADV_HUGEPAGE as
 * `advice` needs transparent huge pages, `pool` takes pages of that size from the reserved pool. Begun: the work is next, so
 * that the neighbor's operations count. */
struct memory prefault_prepare(struct slot *s, int advice, size_t pool);
struct memory prefault_begin(struct slot *s, int advice, size_t pool);
/* Within a phase: a thread's call said no; the first one's errno is kept. */
void prefault_note(bool refused);
/* After the phase `populate`: ends the slot in words where a call of it was refused. `calls` names them. */
void prefault_populated(struct slot *s, const char *p, const char *calls);
/* Before it: skips where a call was refused with this errno. */
void prefault_lacks(struct slot *s, int error, const char *reason);
#define NO_POPULATE_WRITE "this kernel has no MADV_POPULATE_WRITE (Linux 5.14)"
/* Why so many pages of this size cannot be had from their pool, with what provides them. */
const char *prefault_pool_lacks(size_t page, size_t pages);
/* Before it, where a call of the phase pinned: skips with what raises the limit if that was not permitted. */
void prefault_locked(struct slot *s, const char *call);
void prefault_advised(struct slot *s, int advised, int advice);
/* The phase `pin`, by the cell's `pinned`. Pages of the pool are never swapped: there it makes no call for a lock. */
void prefault_pin(struct slot *s, char *p);
void register_part(const struct part *part); /* with the next thread's ring */
/* From the proofs to the last phase. The first use writes a mark into each page, or reads what was there before. */
void prefault_rest(struct slot *s, char *p, bool reads);
void prefault_exit(struct slot *s, const struct memory *m); /* the phase `exit`, in rounds that prove */
void prefault_exit_leave(void);

/* One thread's parts of the calls. */
void clear_part(const struct part *part);
void populate_write_part(const struct part *part);
void lock_part(const struct part *part);
extern int map_part_flags; /* MAP_POPULATE or MAP_LOCKED */
void map_part(const struct part *part);
#endif
