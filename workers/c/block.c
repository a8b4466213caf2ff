/* Blocks and their proofs. Never timed. */
#include "block.h"
#include "core.h"
#include <stdlib.h>

static size_t whole_pages(const struct slot *s, size_t bytes)
{
    return (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
}

static char *block_map(struct slot *s, size_t bytes)
{
    size_t size = whole_pages(s, bytes);
    char *p = mmap(free_range(s, size), size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    /* Whether huge pages come depends on the machine's settings and on luck; base pages are the same for all. */
    (void)madvise(p, size, MADV_NOHUGEPAGE);
    return p;
}

char *block_filled(struct slot *s, size_t bytes)
{
    char *p = block_map(s, bytes);
    pattern_fill(p, bytes, s->seed);
    return p;
}

char *block_resident(struct slot *s, size_t bytes)
{
    char *p = block_map(s, bytes);
    memset(p, 0xa5, bytes);
    return p;
}

char *block_untouched(struct slot *s, size_t bytes)
{
    block_free(s, block_resident(s, bytes), bytes);
    return block_map(s, bytes);
}

void block_free(struct slot *s, char *p, size_t bytes)
{
    munmap(p, whole_pages(s, bytes));
}

void block_spoil(struct slot *s, char *p, size_t bytes)
{
    const char *offset = getenv("PAGEWISE_TEST_WRONG_AT");
    if (!offset)
        return;
    size_t at = strtoull(offset, NULL, 10);
    if (at < bytes)
        p[at] = (char)~p[at];
    fact(s, "spoiled_by_test_at", at);
}

void block_prove(struct slot *s, char *p, size_t bytes)
{
    block_spoil(s, p, bytes);
    fact(s, "wrong_at", pattern_first_wrong(p, bytes, s->seed));
    fact_digest(s, p, bytes);
}

const char *came_so_far(const char *what, size_t done, size_t bytes)
{
    return arena_text("%s after %zu of %zu bytes", what, done, bytes);
}
