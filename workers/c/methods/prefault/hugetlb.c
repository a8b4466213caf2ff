#include "prefault.h"

static size_t pool_page; /* of touch_pool_pages() */

static void touch_pool_pages(const struct part *part)
{
    volatile char *p = part->start;
    size_t bytes = part->bytes, step = pool_page;
    for (size_t i = 0; i < bytes; i += step)
        p[i] = part->mark;
}

static SHARED_BODY void run(struct slot *s, size_t page, void (*fill)(const struct part *))
{
    struct memory m = prefault_begin(s, MADV_NORMAL, page);
    size_t bytes = s->bytes, there;
    char *p, mark = page_mark(s);
    pool_page = page;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        on_every_thread(s, fill, p, there, mark);
    }
    if (p == MAP_FAILED && errno == ENOMEM)
        skip(s, prefault_pool_lacks(page, bytes / page));
    if (p == MAP_FAILED && page == GIANT_PAGE && errno == EINVAL)
        skip(s, NO_GIANT_PAGES);
    prefault_lacks(s, EINVAL, NO_POPULATE_WRITE);
    prefault_populated(s, p, "madvise");
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

/* The pool's pages are resident in a sense of their own: smaps counts them apart from Rss, they are never swapped, and mlock(2)
 * leaves them alone. */
#define POOL_LAWS "huge_bytes == bytes; rss_bytes == 0; pinned=lock: locked_bytes == 0; " NO_FAULT_TO_PIN "; " PLACE_LAWS
#define HUGE_LAWS_OF_POOL "populate.minor_faults == bytes / huge_page_bytes; " POOL_LAWS
#define GIANT_LAWS_OF_POOL "populate.minor_faults == bytes / 1073741824; " POOL_LAWS
#define POOL_KEYS PLACE_KEYS(HUGE_SHARING, EVERY_PIN)

/* Huge pages of the default size. */
static size_t huge_pages_of(struct slot *s)
{
    if (!s->huge_page_bytes || s->bytes % s->huge_page_bytes != 0)
        skip(s, NO_WHOLE_HUGE_PAGES);
    return s->huge_page_bytes;
}

static void touched(struct slot *s) { run(s, huge_pages_of(s), touch_pool_pages); }
METHOD(prefault_hugetlb, .experiment = "prefault", .name = "hugetlb",
       .summary = "Map from the reserved pool of huge pages by MAP_HUGETLB, then write one byte to each huge page.",
       .phases = PREFAULT_PHASES, .keys = POOL_KEYS, .memory = PREFAULT_MEMORY, .backing_huge = true, .needs = "huge-pages",
       .laws = HUGE_LAWS_OF_POOL, .calls = "populate:mmap" TEARDOWN_CALLS, .run = touched);

static void populated(struct slot *s) { run(s, huge_pages_of(s), populate_write_part); }
METHOD(prefault_hugetlb_populate, .experiment = "prefault", .name = "hugetlb-populate",
       .summary = "Map from the reserved pool of huge pages, then fault them in by MADV_POPULATE_WRITE.",
       .phases = PREFAULT_PHASES, .keys = POOL_KEYS, .memory = PREFAULT_MEMORY, .backing_huge = true, .needs = "huge-pages",
       .laws = HUGE_LAWS_OF_POOL, .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = populated);

static void giant(struct slot *s)
{
    if (s->bytes % (s->threads * GIANT_PAGE) != 0)
        skip(s, "bytes is not a multiple of 1 GiB for each thread: --set bytes=1GiB,2GiB");
    run(s, GIANT_PAGE, touch_pool_pages);
}
METHOD(prefault_hugetlb_1gib, .experiment = "prefault", .name = "hugetlb-1gib",
       .summary = "Map from the pool of pages of 1 GiB by MAP_HUGE_1GB, then write one byte to each of them.",
       .phases = PREFAULT_PHASES, .keys = POOL_KEYS, .memory = PREFAULT_MEMORY, .backing_huge = true, .needs = "giant-pages",
       .laws = GIANT_LAWS_OF_POOL, .calls = "populate:mmap" TEARDOWN_CALLS, .run = giant);
