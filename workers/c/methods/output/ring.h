/* An io_uring that writes a file's pieces past the page cache, several at once. */
#ifndef PAGEWISE_OUTPUT_RING_H
#define PAGEWISE_OUTPUT_RING_H
#include "output.h"

struct output_ring {
    int descriptor;
    char *rings;
    size_t rings_bytes, sqes_bytes;
    void *sqes;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    const struct io_uring_cqe *cqes;
};

/* Skips where the file would lie in memory: there is no device to write to. */
void direct_possible(struct slot *s, const struct output *o);
void output_ring_possible(struct slot *s);
void output_ring_open(struct output *o, struct output_ring *ring);  /* measured, as are the other two */
void output_ring_write(struct output *o, struct output_ring *ring);
void output_ring_close(struct output_ring *ring);
#endif
