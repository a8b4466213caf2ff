/* io_uring by its system calls, without a library: a ring that keeps `depth` reads in flight and hands their buffers over in
 * the order of the steps. */
#ifndef PAGEWISE_READ_RING_H
#define PAGEWISE_READ_RING_H
#include "read.h"

#define RING_KEYS CHUNK_KEYS " queue_depth:count"
/* The ring did the reads: a completion for every step, and not one call of the read family by this process. */
#define RING_LAWS "calls_counted == 1: read_calls == 0; completions >= (bytes + step_bytes - 1) / step_bytes"

struct ring_turn {
    size_t offset, have, want;
    bool done;
};

struct ring {
    int descriptor;
    unsigned depth;            /* reads to be in flight */
    unsigned waiting, in_flight; /* reads not yet submitted; reads not yet completed */
    uint64_t enters, completions;
    struct ring_turn *turns;   /* one for each buffer */
    /* shared with the kernel */
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    void *rings;
    size_t rings_bytes, sqes_bytes, turns_bytes;
};

/* Before the clock: skips where the kernel or a container refuses io_uring, and gets memory for the turns. */
void ring_begin(struct slot *s, struct ring *ring, unsigned depth);
/* Measured: 0, or the errno of the call that failed. */
int uring_open(struct ring *ring);
/* After uring_open(): stops the slot with the reason, if there is one. */
void ring_check(struct slot *s, int error);
void uring_close(struct ring *ring);
/* Measured: reads every step of the input from `descriptor` and consumes it; leaves an errno in `in->error`. */
void ring_pass(struct ring *ring, struct input *in, int descriptor, bool direct);
/* After the clock. */
void ring_end(struct slot *s, struct ring *ring);
void ring_free(struct ring *ring); /* ring_end() without facts */
#endif
