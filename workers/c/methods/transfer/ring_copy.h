/* Both bodies of a copy through the ring, for whichever `copy` moves a chunk in and out. */
#ifndef PAGEWISE_RING_COPY_H
#define PAGEWISE_RING_COPY_H
#include "transfer.h"
#include "ring.h"

#define RING_KEYS TRANSFER_KEYS PAGES_KEY " chunk:size ring_chunks:count"
#define RING_MEMORY "2 * bytes + chunk * ring_chunks"
/* Only a side that has waited long enters the kernel. */
#define RING_CALLS "send:sched_yield?,poll? receive:sched_yield?,poll?"

typedef void copy_chunk(char *to, const char *from, size_t bytes);

__attribute__((always_inline)) static inline void ring_send(struct slot *s, copy_chunk *copy)
{
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    char *p = transfer_source(s);
    meet(s);
    PHASE(s, "send") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            copy(ring_free(s, &r, n, done), p + done, part);
            ring_written(&r, n);
            done += part;
        }
    }
    transfer_sent(s, p, 0, r.memory_bytes);
}

__attribute__((always_inline)) static inline void ring_receive(struct slot *s, copy_chunk *copy)
{
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    char *p = transfer_target(s);
    meet(s);
    PHASE(s, "receive") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            copy(p + done, ring_ready(s, &r, n, done), part);
            ring_taken(&r, n);
            done += part;
        }
    }
    transfer_received(s, p, 0, 0);
}
#endif
