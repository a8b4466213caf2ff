#include "prefault.h"

static size_t huge_page; /* of touch_huge_pages() */

static void touch_huge_pages(const struct part *part)
{
    volatile char *p = part->start;
    size_t bytes = part->bytes, step = huge_page;
    for (size_t i = 0; i < bytes; i += step)
        p[i] = part->mark;
}

static SHARED_BODY void run(struct slot *s, void (*fill)(const struct part *))
{
    struct memory m = prefault_begin(s, MADV_NORMAL, true);
    size_t bytes = s->bytes, there;
    char *p, mark = page_mark(s);
    huge_page = s->huge_page_bytes;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        on_every_thread(s, fill, p, there, mark);
    }
    if (p == MAP_FAILED && errno == ENOMEM)
        skip(s, arena_text("the pool holds fewer than %zu free huge pages: sudo sysctl vm.nr_hugepages=%zu",
                           bytes / huge_page, bytes / huge_page));
    prefault_lacks(s, EINVAL, NO_POPULATE_WRITE);
    prefault_populated(s, p, "madvise");
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

/* The pool's pages are resident in a sense of their own: smaps counts them apart from Rss, and mlock(2) leaves them alone. */
#define POOL_LAWS                                                                                                      \
    "populate.minor_faults == bytes / huge_page_bytes; huge_bytes == bytes; rss_bytes == 0; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS

static void touched(struct slot *s) { run(s, touch_huge_pages); }
METHOD(prefault_hugetlb, .experiment = "prefault", .name = "hugetlb",
       .summary = "Map from the reserved pool of huge pages by MAP_HUGETLB, then write one byte to each huge page.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, "no|ring"), .memory = "bytes", .backing_huge = true,
       .needs = "huge-pages", .laws = POOL_LAWS, .calls = "populate:mmap" TEARDOWN_CALLS, .run = touched);

static void populated(struct slot *s) { run(s, populate_write_part); }
METHOD(prefault_hugetlb_populate, .experiment = "prefault", .name = "hugetlb-populate",
       .summary = "Map from the reserved pool of huge pages, then fault them in by MADV_POPULATE_WRITE.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, "no|ring"), .memory = "bytes", .backing_huge = true,
       .needs = "huge-pages", .laws = POOL_LAWS, .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = populated);
