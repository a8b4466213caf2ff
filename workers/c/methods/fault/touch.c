#include "fault.h"

static SHARED_BODY void run(struct slot *s, int advice)
{
    bool huge = advice == MADV_HUGEPAGE;
    if (huge)
        fault_needs_huge(s, true);
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int advised;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") { advised = madvise(p, bytes, advice); }
    if (huge)
        check_huge_advice(s, advised);
    else
        check_done(s, advised != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    backing_given_back(s, bytes);
}

static void base_pages(struct slot *s) { run(s, MADV_NOHUGEPAGE); }
METHOD(fault_touch, .experiment = "fault", .name = "touch",
       .summary = "Map, then fault every base page in by writing one byte to it; huge pages are forbidden.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes",
       .laws = "first-touch.minor_faults == bytes / page_bytes; " NOTHING_BEFORE "; " BASE_PAGES "; "
               RE_TOUCH_LAW "; " BASE_REFAULT "; " BACKING_LAWS("first-touch") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = base_pages);

static void huge_pages(struct slot *s) { run(s, MADV_HUGEPAGE); }
METHOD(fault_thp, .experiment = "fault", .name = "thp",
       .summary = "Permit transparent huge pages by MADV_HUGEPAGE, then touch every base page: one fault per huge page.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true,
       .laws = NOTHING_BEFORE "; " HUGE_FAULT_LAWS("first-touch") "; " HUGE_LAWS "; " HUGE_REFAULT "; "
               BACKING_LAWS("first-touch") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = huge_pages);
