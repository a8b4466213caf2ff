/* A ring of a few chunks in shared memory, one writer and one reader, both at work at once. Side a makes it. */
#ifndef PAGEWISE_RING_H
#define PAGEWISE_RING_H
#include "shared.h"
#include <stdatomic.h>

/* The two counters lie on lines of their own, two lines apart: a processor may fetch lines in pairs. */
struct ring_head {
    _Alignas(256) _Atomic uint64_t written;
    _Alignas(256) _Atomic uint64_t taken;
};

struct ring {
    struct ring_head *head;
    char *data;
    size_t stride;       /* from one chunk to the next: whole pages */
    uint64_t chunks;
    size_t mapped_bytes;
    uint64_t memory_bytes; /* shared memory that the kernel holds for it */
};

/* The ring of the cell, empty. It lasts for the launch, as a program's does: a new one would not be in the caches. */
struct ring ring_open(struct slot *s, size_t chunk, uint64_t chunks);
/* The slow path: spins, yields, and fails with the offset once the other side has ended. */
void ring_wait(struct slot *s, _Atomic uint64_t *counter, uint64_t at_least, size_t done);

/* Chunk `n` for writing: waits until the reader has taken the one that was there a whole ring ago. */
static inline char *ring_free(struct slot *s, const struct ring *r, uint64_t n, size_t done)
{
    uint64_t at_least = n < r->chunks ? 0 : n - r->chunks + 1;
    if (atomic_load_explicit(&r->head->taken, memory_order_acquire) < at_least)
        ring_wait(s, &r->head->taken, at_least, done);
    return r->data + n % r->chunks * r->stride;
}

static inline void ring_written(const struct ring *r, uint64_t n)
{
    atomic_store_explicit(&r->head->written, n + 1, memory_order_release);
}

/* Chunk `n` for reading: waits until it has been written. */
static inline char *ring_ready(struct slot *s, const struct ring *r, uint64_t n, size_t done)
{
    if (atomic_load_explicit(&r->head->written, memory_order_acquire) < n + 1)
        ring_wait(s, &r->head->written, n + 1, done);
    return r->data + n % r->chunks * r->stride;
}

static inline void ring_taken(const struct ring *r, uint64_t n)
{
    atomic_store_explicit(&r->head->taken, n + 1, memory_order_release);
}
#endif
