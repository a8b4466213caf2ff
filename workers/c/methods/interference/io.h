/* What this process read and wrote (proc_pid_io(5)), and what its memory cgroup was charged (io.c). */
#ifndef PAGEWISE_INTERFERENCE_IO_H
#define PAGEWISE_INTERFERENCE_IO_H
#include "worker.h"

struct io {
    uint64_t called_read, called_written, device_read, device_written; /* bytes */
};
struct io io_so_far(void);

/* The cgroup of a memory bound, version 1 or 2; all zero where there is none. */
struct charges {
    uint64_t limit_bytes, peak_bytes;
    uint64_t hits;     /* how often the bound was met */
    uint64_t refaults; /* pages of files that came back soon after they were evicted (workingset_refault_file) */
};
/* The cell's `bound` must be that of the cgroup that this process was put into. */
struct charges charges_so_far(struct slot *s);
#endif
