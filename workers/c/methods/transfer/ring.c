/* See ring.h. */
#include "ring.h"
#include "block.h"
#include <sched.h>

enum { SPINS_BEFORE_YIELD = 2048, YIELDS_BEFORE_LOOK = 64 };

static struct ring ring_map(struct slot *s, size_t chunk, uint64_t chunks)
{
    size_t page = s->page_bytes, stride = (chunk + page - 1) / page * page;
    if (chunks > SIZE_MAX / 2 / stride)
        skip(s, "the ring would be larger than the address space");
    struct ring r = {.stride = stride, .chunks = chunks, .mapped_bytes = page + stride * chunks};
    int descriptor;
    char *p = shared_open(s, r.mapped_bytes, &descriptor);
    for (size_t i = 0; i < r.mapped_bytes; i += page)
        ((volatile char *)p)[i] |= 0; /* the channel is there before the clock starts, as one that is used again is */
    r.memory_bytes = shared_memory_bytes(descriptor);
    close(descriptor);
    r.head = (struct ring_head *)p;
    r.data = p + page;
    return r;
}

struct ring ring_open(struct slot *s, size_t chunk, uint64_t chunks)
{
    static const struct cell *cell;
    static struct ring kept;
    if (cell != s->cell) {
        if (kept.head)
            munmap(kept.head, kept.mapped_bytes);
        kept.head = NULL;
        kept = ring_map(s, chunk, chunks);
        cell = s->cell;
    } else if (s->role == 'a') { /* b looks at it after the next meeting */
        atomic_store(&kept.head->written, 0);
        atomic_store(&kept.head->taken, 0);
        /* What the last slot left there could pass for what this one is to bring. */
        if (s->proofs)
            memset(kept.data, 0xa5, kept.stride * kept.chunks);
    }
    return kept;
}

void ring_wait(struct slot *s, _Atomic uint64_t *counter, uint64_t at_least, size_t done)
{
    for (unsigned yields = 1;; yields++) {
        for (int spins = 0; spins < SPINS_BEFORE_YIELD; spins++) {
            if (atomic_load_explicit(counter, memory_order_acquire) >= at_least)
                return;
            pause_briefly();
        }
        /* With fewer processors than sides, the other one can only run once this one lets go. */
        sched_yield();
        if (yields % YIELDS_BEFORE_LOOK == 0 && peer_gone() &&
            atomic_load_explicit(counter, memory_order_acquire) < at_least) {
            errno = EPIPE;
            fail_because(s, "ring", came_so_far("the other side ended", done, s->bytes));
        }
    }
}
