#include "fault.h"
#include <stdio.h>

/* The pool's pages are the pool's, so backing cannot be prepared by touching others. */
static void hugetlb_begin(struct slot *s)
{
    if (!s->huge_page_bytes || s->bytes % s->huge_page_bytes != 0)
        skip(s, NO_WHOLE_HUGE_PAGES);
    if (!key_is(s, "release", "dontneed"))
        skip(s, "hugetlb memory knows only release=dontneed (madvise(2))");
    if (key_is(s, "backing", "cold"))
        skip(s, "the pool's huge pages are never returned to the host, so they cannot be made cold");
    s->ops = s->bytes / s->page_bytes;
    frames_before(s, s->bytes, MAP_HUGETLB, MADV_NORMAL);
    reset_peak_rss();
}

static void hugetlb_check(struct slot *s, const void *mapped)
{
    if (mapped == MAP_FAILED && errno == ENOMEM) {
        static char reason[160];

        snprintf(reason, sizeof reason, "the huge page pool holds fewer than %zu free pages: sudo sysctl vm.nr_hugepages=%zu",
                 s->bytes / s->huge_page_bytes, s->bytes / s->huge_page_bytes);
        skip(s, reason);
    }
    check_map(s, mapped);
}

static SHARED_BODY void run(struct slot *s, int populate)
{
    hugetlb_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED_NOREPLACE | populate, -1, 0);
    }
    hugetlb_check(s, p);
    PHASE(s, "advise") { }
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
}

static void touched(struct slot *s) { run(s, 0); }
METHOD(fault_hugetlb, .experiment = "fault", .name = "hugetlb",
       .summary = "Map from the reserved pool of huge pages by MAP_HUGETLB, then touch: one fault per huge page.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true, .needs = "huge-pages",
       .laws = "first-touch.minor_faults == bytes / huge_page_bytes; huge_bytes == bytes; " RE_TOUCH_LAW
               "; release=dontneed: refault.minor_faults == bytes / huge_page_bytes" "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap release:madvise unmap:munmap", .run = touched);

static void populated(struct slot *s) { run(s, MAP_POPULATE); }
METHOD(fault_hugetlb_populate, .experiment = "fault", .name = "hugetlb-populate",
       .summary = "Map from the reserved pool of huge pages, faulted in within the call by MAP_POPULATE.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true, .needs = "huge-pages",
       .laws = "map.minor_faults == bytes / huge_page_bytes; first-touch.minor_faults == 0; huge_bytes == bytes; "
               RE_TOUCH_LAW "; release=dontneed: refault.minor_faults == bytes / huge_page_bytes" "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap release:madvise unmap:munmap", .run = populated);
