/* io_uring by its system calls, without a library: a ring that keeps `depth` reads in flight and hands their buffers over in
 * the order of the steps. */
#ifndef PAGEWISE_READ_RING_H
#define PAGEWISE_READ_RING_H
#include "read.h"

#define RING_KEYS CHUNK_KEYS " queue_depth:count"
/* The ring brought the bytes: as many as the kernel's completions say, and not one call of the read family by this process. */
#define RING_BROUGHT_LAWS                                                                                              \
    "calls_counted == 1: read_calls == 0; completed_bytes >= bytes; completed_bytes <= bytes + 4095"
/* One call submits and waits at once, so that a read costs one where only one is in flight; where more are, one call more for
 * each half ring that is submitted early. */
#define RING_LAWS                                                                                                      \
    RING_BROUGHT_LAWS "; queue_depth=1: enters == completions + interrupted; "                                          \
                      "enters * queue_depth <= (completions + interrupted) * (queue_depth + 2)"

/* What a ring is besides a plain one. */
enum ring_kind {
    RING_PLAIN = 0,
    RING_REGISTERED = 1, /* its buffers and the file are registered with the kernel beforehand */
    RING_SQPOLL = 2,     /* a kernel thread takes what is submitted */
    RING_DEFER = 4,      /* completions are worked on only when they are waited for (DEFER_TASKRUN) */
};

struct ring_turn {
    size_t offset, have, want;
    bool done;
};

struct ring {
    int descriptor;
    enum ring_kind kind;
    bool registering;          /* what failed was io_uring_register */
    unsigned depth;            /* reads to be in flight */
    unsigned waiting, in_flight; /* reads not yet submitted; reads not yet completed */
    uint64_t enters, interrupted, completions, completed_bytes;
    struct ring_turn *turns;   /* one for each buffer */
    /* shared with the kernel */
    unsigned *sq_tail, *sq_mask, *sq_array, *sq_flags, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    void *rings;
    size_t rings_bytes, sqes_bytes, turns_bytes;
};

/* Before the clock: skips where the kernel or a container refuses such a ring, and gets memory for the turns. */
void ring_begin(struct slot *s, struct ring *ring, unsigned depth, enum ring_kind kind);
/* Measured: 0, or the errno of the call that failed. uring_register() is for RING_REGISTERED: all of the input's buffer, and
 * the file as number 0. */
int uring_open(struct ring *ring);
int uring_register(struct ring *ring, const struct input *in, int descriptor);
/* After uring_open(): stops the slot with the reason, if there is one. */
void ring_check(struct slot *s, const struct ring *ring, int error);
int uring_close(struct ring *ring); /* 0, or -1 where something is left */
/* Measured (ring_pass.c): reads every step of the input from `descriptor` and consumes it; leaves an errno in `in->error`. */
void ring_pass(struct ring *ring, struct input *in, int descriptor, bool direct);
/* Before the phase that closes: what the kernel says of the ring (/proc/self/fdinfo): facts `ring_buffers`, `ring_files` and
 * `ring_thread`, each 0 where it has none. */
void ring_proofs(struct slot *s, const struct ring *ring);
/* After the clock. */
void ring_end(struct slot *s, struct ring *ring);
void ring_free(struct ring *ring); /* ring_end() without facts */
#endif
