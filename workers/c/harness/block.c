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

static struct kept {
    char *start;
    size_t bytes;
} filled, resident;

/* Whether a block of that size had to be made. */
static bool keep(struct slot *s, struct kept *block, size_t bytes)
{
    if (block->start && block->bytes == bytes)
        return false;
    if (block->start)
        munmap(block->start, whole_pages(s, block->bytes));
    *block = (struct kept){block_map(s, bytes), bytes};
    return true;
}

char *block_filled(struct slot *s, size_t bytes)
{
    if (keep(s, &filled, bytes))
        pattern_fill(filled.start, bytes, s->seed);
    return filled.start;
}

char *block_resident(struct slot *s, size_t bytes)
{
    keep(s, &resident, bytes);
    memset(resident.start, 0xa5, bytes);
    return resident.start;
}

char *block_untouched(struct slot *s, size_t bytes)
{
    char *before = block_map(s, bytes);
    memset(before, 0xa5, bytes);
    munmap(before, whole_pages(s, bytes));
    return block_map(s, bytes);
}

void block_free(struct slot *s, char *p, size_t bytes)
{
    if (p != filled.start && p != resident.start)
        munmap(p, whole_pages(s, bytes));
}

void block_disown(const char *p)
{
    if (p == filled.start)
        filled = (struct kept){0};
    if (p == resident.start)
        resident = (struct kept){0};
}

void block_spoil(char *p, size_t bytes)
{
    const char *offset = getenv("PAGEWISE_TEST_WRONG_AT");
    size_t at = offset ? strtoull(offset, NULL, 10) : bytes;
    if (at < bytes)
        p[at] = (char)~p[at];
}

void block_prove(struct slot *s, char *p, size_t bytes)
{
    block_spoil(p, bytes);
    fact(s, "wrong_at", pattern_first_wrong(p, bytes, s->seed));
    fact_digest(s, p, bytes);
    block_spoil(p, bytes);
}

const char *came_so_far(const char *what, size_t done, size_t bytes)
{
    return arena_text("%s after %zu of %zu bytes", what, done, bytes);
}
