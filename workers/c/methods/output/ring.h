/* An io_uring that reads or writes the steps of a file past the page cache, several at once. */
#ifndef PAGEWISE_OUTPUT_RING_H
#define PAGEWISE_OUTPUT_RING_H
#include "worker.h"

/* Step i is `step` bytes of the file at `at[i]`, or what there is of them before `bytes`. In memory it is at the same offset,
 * or where `slots` is not 0 at its number modulo `slots`. */
struct steps {
    int file;
    bool writes, fixed;       /* `fixed`: the memory is registered, all of it (ring_register) */
    char *memory;
    const size_t *at;
    size_t bytes, step, slots;
    unsigned depth;           /* at once */
    void (*done)(void *owner, size_t i); /* called for each step that is there; NULL: nothing is */
    void *owner;
    const char *failed;       /* the first call that failed, with `error` */
    int error;
};

struct steps_ring {
    int descriptor;
    char *rings;
    size_t rings_bytes, sqes_bytes;
    void *sqes;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    const struct io_uring_cqe *cqes;
};

void steps_ring_possible(struct slot *s); /* skips where io_uring is refused */
void file_on_device(struct slot *s, int file); /* skips where the file lies in memory: no device for O_DIRECT */
/* Measured. */
void steps_ring_open(struct steps *steps, struct steps_ring *ring);
void steps_ring_register(struct steps *steps, struct steps_ring *ring, size_t memory_bytes);
void steps_ring_pass(struct steps *steps, struct steps_ring *ring, size_t from, size_t to);
void steps_ring_close(struct steps *steps, struct steps_ring *ring);
#endif
