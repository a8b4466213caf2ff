#include "fault.h"

static SHARED_BODY void run(struct slot *s, int advice)
{
    bool huge = advice == MADV_HUGEPAGE;
    if (huge)
        fault_needs_huge(s, true);
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int advised = 0, populated = 0;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") {
        advised = madvise(p, bytes, advice);
        populated = madvise(p, bytes, MADV_POPULATE_WRITE);
    }
    if (huge)
        check_huge_advice(s, advised);
    if (populated != 0 && errno == EINVAL)
        skip(s, "this kernel has no MADV_POPULATE_WRITE (Linux 5.14)");
    if (populated != 0)
        fail(s, "madvise");
    if (!huge)
        check_done(s, advised != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    backing_given_back(s, bytes);
}

static void base_pages(struct slot *s) { run(s, MADV_NOHUGEPAGE); }
METHOD(fault_populate_write, .experiment = "fault", .name = "populate-write",
       .summary = "Map, then fault base pages in by MADV_POPULATE_WRITE, which reports errors and can take a part.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes",
       .laws = "advise.minor_faults == bytes / page_bytes; first-touch.minor_faults == 0; " NOTHING_BEFORE "; "
               BASE_PAGES "; first-touch.rss_bytes == bytes; " RE_TOUCH_LAW "; " BASE_REFAULT "; " BACKING_LAWS("advise")
               "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = base_pages);

static void huge_pages(struct slot *s) { run(s, MADV_HUGEPAGE); }
METHOD(fault_thp_populate, .experiment = "fault", .name = "thp-populate",
       .summary = "Permit huge pages, then fault all of them in by one MADV_POPULATE_WRITE.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true,
       .laws = NOTHING_BEFORE "; " HUGE_FAULT_LAWS("advise") "; first-touch.minor_faults == 0; " HUGE_LAWS "; "
               HUGE_REFAULT "; " BACKING_LAWS("advise") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = huge_pages);
