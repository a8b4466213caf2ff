/* The parts that the `transfer` methods share. */
#include "transfer.h"

char *transfer_source(struct slot *s)
{
    s->ops = s->bytes;
    block_check_pages(s);
    char *p = block_filled(s, s->bytes);
    pattern_fill(p, s->bytes, s->seed); /* who sends has just written what it sends */
    return p;
}

char *transfer_target(struct slot *s)
{
    s->ops = s->bytes;
    block_check_pages(s);
    return block_resident(s, s->bytes);
}

void transfer_check(struct slot *s, const char *call, struct moved moved)
{
    if (moved.bytes != s->bytes)
        fail_because(s, call, came_so_far(errno == EPIPE ? "the other side ended" : strerror(errno), moved.bytes, s->bytes));
}

static void sent(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes, char change)
{
    meet(s); /* b has received */
    meet(s); /* b has read it through */
    uint64_t memory_bytes = block_memory_bytes(s, p, s->bytes) + channel_bytes;
    fact(s, "send.calls", calls);
    block_huge_fact(s, "huge_bytes", p, s->bytes);
    tell(s, &memory_bytes, sizeof memory_bytes); /* b looks at its block meanwhile */
    fact(s, "source_wrong_at", pattern_first_wrong(p, s->bytes, s->seed));
    meet(s); /* b has proved its block, and both have measured it */
    if (change)
        p[0] ^= change;
    meet(s); /* a has changed its own */
    meet(s); /* b has looked */
    if (change)
        p[0] ^= change;
    block_free(s, p, s->bytes);
}

void transfer_sent(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes)
{
    sent(s, p, calls, channel_bytes, ~0);
}

void transfer_given(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes)
{
    block_disown(p); /* freed for good: what was given away is never written again, nor used for another slot */
    sent(s, p, calls, channel_bytes, 0);
}

/* What any reader of the block pays: on pages that are only mapped, the faults come here. */
static inline uint64_t sum_words(const char *p, size_t bytes)
{
    const uint64_t *words = (const uint64_t *)p;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / 8; i++)
        sum += words[i];
    return sum;
}

void transfer_received(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes)
{
    volatile uint64_t sum;
    size_t bytes = s->bytes;
    uint64_t theirs;
    meet(s);
    PHASE(s, "read-through") { sum = sum_words(p, bytes); }
    (void)sum;
    meet(s);
    fact(s, "receive.calls", calls);
    hear(s, &theirs, sizeof theirs);
    uint64_t memory_bytes = theirs + block_memory_bytes(s, p, bytes) + channel_bytes;
    fact(s, "memory_bytes", memory_bytes);
    fact(s, "footprint_bytes", memory_bytes); /* every byte of both blocks and of the channel is touched by a pass */
    block_huge_fact(s, "b.huge_bytes", p, bytes);
    fact(s, "b.small_folios", small_folios_granted(s, false));
    block_prove(s, p, bytes);
    char first = p[0];
    meet(s);
    meet(s);
    fact(s, "sees_later_change", ((volatile char *)p)[0] != first);
    meet(s);
    block_free(s, p, bytes);
}
