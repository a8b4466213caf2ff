/* The parts that the `copy` methods share. */
#include "copy.h"

void copy_caches(struct slot *s, const struct copy *c)
{
    blocks_before(s, c->from, c->stride ? NULL : c->to, s->bytes);
}

struct copy copy_begin(struct slot *s)
{
    struct copy c = {0};
    size_t bytes = s->bytes, at_least = key_size(s, "batch_bytes");
    block_check_pages(s);
    bool fresh = key_is(s, "destination", "first-touch");
    if (fresh && bytes < s->page_bytes)
        skip(s, "a first touch is counted in pages, so destination=first-touch needs at least one");
    bool cold = !key_is(s, "frames", "cached"); /* one copy: the next would find its blocks in the caches */
    c.use = key_is(s, "then", "use");
    c.batch = at_least > bytes && !cold ? (at_least + bytes - 1) / bytes : 1;
    if (fresh)
        c.stride = (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    s->ops = s->phase_bytes = bytes * c.batch;
    fact(s, "batch", c.batch);
    c.from = block_filled(s, bytes);
    c.to = fresh ? block_untouched(s, c.stride * c.batch) : block_resident(s, bytes);
    c.warm_up = fresh || cold ? 0 : 2;
    copy_caches(s, &c);
    return c;
}

static volatile uint64_t used;

void copy_use(const char *p, size_t bytes)
{
    uint64_t sum = 0, word;
    for (size_t at = 0; at + sizeof word <= bytes; at += sizeof word) {
        memcpy(&word, p + at, sizeof word);
        sum += word;
    }
    used = sum;
}

/* Where a copy first differs from the pattern. One that is the same as its source, byte for byte, differs where that does;
 * comparing them takes a third of making the pattern again. */
static size_t copy_first_wrong(struct slot *s, const char *to, const char *from, size_t source_wrong_at)
{
    if (!s->proofs || memcmp(to, from, s->bytes) == 0)
        return source_wrong_at;
    return pattern_first_wrong(to, s->bytes, s->seed);
}

void copy_end(struct slot *s, const struct copy *c)
{
    size_t bytes = s->bytes, wrong_at = bytes;
    uint64_t copies = c->stride ? c->batch : 1;
    size_t source_wrong_at = pattern_first_wrong(c->from, bytes, s->seed);
    block_spoil(c->to, bytes);
    for (uint64_t i = 0; i < copies && wrong_at == bytes; i++)
        wrong_at = copy_first_wrong(s, c->to + i * c->stride, c->from, source_wrong_at);
    fact(s, "wrong_at", wrong_at);
    fact(s, "wrong_copies", c->wrong != 0);
    size_t target_bytes = c->stride ? c->stride * copies : bytes;
    fact(s, "footprint_bytes", bytes + target_bytes);
    fact(s, "huge_bytes", block_huge_bytes(s, c->from, bytes) + block_huge_bytes(s, c->to, target_bytes));
    fact(s, "source_wrong_at", source_wrong_at);
    fact_digest(s, c->to, bytes);
    block_spoil(c->to, bytes);
    block_free(s, c->from, bytes);
    block_free(s, c->to, target_bytes);
}
