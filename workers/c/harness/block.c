/* Blocks and their proofs. Never timed. */
#include "block.h"
#include "core.h"
#include <fcntl.h>
#include <malloc.h>
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
    /* Left alone, whether huge pages come depends on the machine's settings and on luck. */
    (void)madvise(p, size, key_is(s, "pages", "huge") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return p;
}

static const char *pages_obstacle(const struct slot *s)
{
    if (!key_is(s, "pages", "huge"))
        return NULL;
    if (!s->huge_page_bytes)
        return "pages=huge needs a kernel with transparent huge pages";
    if (s->bytes < s->huge_page_bytes)
        return "pages=huge needs a block of at least one huge page";
    int file = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    char text[64] = "";
    if (file < 0 || read(file, text, sizeof text - 1) <= 0 || strstr(text, "[never]"))
        text[0] = 0;
    if (file >= 0)
        close(file);
    return text[0] ? NULL : "pages=huge needs /sys/kernel/mm/transparent_hugepage/enabled to be always or madvise";
}

void block_check_pages(struct slot *s)
{
    const char *obstacle = pages_obstacle(s);
    if (obstacle)
        skip_alike(s, obstacle);
}

static struct kept {
    char *start;
    size_t bytes;
    bool huge;
} filled, resident;
static char *malloced;

/* Whether a block of that size had to be made. */
static bool keep(struct slot *s, struct kept *block, size_t bytes)
{
    bool huge = key_is(s, "pages", "huge");
    if (block->start && block->bytes == bytes && block->huge == huge)
        return false;
    if (block->start)
        munmap(block->start, whole_pages(s, block->bytes));
    *block = (struct kept){block_map(s, bytes), bytes, huge};
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
    /* What an earlier slot left there could pass for what this one is to bring. */
    if (keep(s, &resident, bytes) || s->proofs)
        memset(resident.start, 0xa5, bytes);
    return resident.start;
}

char *block_untouched(struct slot *s, size_t bytes)
{
    char *before = block_map(s, bytes);
    memset(before, 0xa5, bytes);
    (void)blocks_flush(s, before, bytes);
    munmap(before, whole_pages(s, bytes));
    return block_map(s, bytes);
}

char *block_malloced(struct slot *s, size_t bytes)
{
    /* Large blocks are mapped by themselves; here small ones too, and after a free() as before it. */
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1);
#endif
    malloced = malloc(bytes);
    if (!malloced)
        fail(s, "malloc");
    return malloced;
}

uint64_t present_bytes(struct slot *s, const char *p, size_t bytes)
{
    if (!s->proofs)
        return 0;
    size_t page = s->page_bytes, from = (uintptr_t)p / page * page;
    size_t pages = ((uintptr_t)p + bytes - from + page - 1) / page, found = 0;
    unsigned char *present = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, present);
    if (mincore((void *)from, pages * page, present) != 0)
        fail(s, "mincore");
    for (size_t i = 0; i < pages; i++)
        found += present[i] & 1;
    munmap(present, pages);
    return found * page;
}

uint64_t block_memory_bytes(struct slot *s, char *p, size_t bytes)
{
    return p == malloced ? present_bytes(s, p, bytes) : resident_in(s, p, whole_pages(s, bytes)).pss_bytes;
}

uint64_t block_huge_bytes(struct slot *s, const char *p, size_t bytes)
{
    return p == malloced ? huge_bytes_around(s, p, bytes) : resident_in(s, p, whole_pages(s, bytes)).huge_bytes;
}

void block_huge_fact(struct slot *s, const char *name, const char *p, size_t bytes)
{
    fact(s, name, block_huge_bytes(s, p, bytes));
}

void block_free(struct slot *s, char *p, size_t bytes)
{
    if (p == malloced) {
        free(p);
        malloced = NULL;
    } else if (p != filled.start && p != resident.start)
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
