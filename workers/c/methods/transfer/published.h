/* The P2 jobs as published: both blocks are malloc's own, and side b's was never touched. `block=resident` and
 * `segment=touched` take the flaw away and make the faults phases of their own, so that it can be seen what turns on them. */
#ifndef PAGEWISE_TRANSFER_PUBLISHED_H
#define PAGEWISE_TRANSFER_PUBLISHED_H
#include "transfer.h"

enum { PUBLISHED_PIECE_BYTES = 4096 };
#define PUBLISHED_PHASES "fault-channel send fault-block receive read-through"
#define PUBLISHED_KEYS TRANSFER_KEYS " block:untouched|resident backing:recycled|cold idle_ms:count"
/* malloc's header lies on the block's first page, which is there therefore. The original asks for no kind of page, so that its
 * block is in large folios where the machine's settings give them to all. */
#define PUBLISHED_LAWS                                                                                                 \
    PRIVATE_LAWS "; block=untouched: fault-block.minor_faults == 0; "                                                  \
    "block=untouched & b.huge_bytes == 0 & b.small_folios == 0: receive.minor_faults >= (bytes + 15) / page_bytes; "   \
    "block=resident & b.huge_bytes == 0 & b.small_folios == 0: fault-block.minor_faults == (bytes + 15) / page_bytes; " \
    "backing=recycled & b.huge_bytes == 0: backing_level_ps >= 1; "                                                    \
    "block=untouched: receive.minor_faults >= 1; block=resident: fault-block.minor_faults >= 1"

static inline char *published_source(struct slot *s)
{
    backing_before(s, 3 * s->bytes); /* both blocks and the segment: a host may have taken frames back */
    char *p = block_malloced(s, s->bytes);
    s->ops = s->bytes;
    pattern_fill(p, s->bytes, s->seed);
    return p;
}

static inline void touch_all(char *p, size_t bytes, size_t page)
{
    for (size_t at = 0; at < bytes; at += page)
        ((volatile char *)p)[at] = 0;
    if (bytes)
        ((volatile char *)p)[bytes - 1] = 0;
}

static inline char *published_target(struct slot *s)
{
    char *p = block_malloced(s, s->bytes);
    size_t bytes = key_is(s, "block", "resident") ? s->bytes : 0, page = s->page_bytes;
    s->ops = s->bytes;
    PHASE(s, "fault-block") { touch_all(p, bytes, page); }
    return p;
}
#endif
