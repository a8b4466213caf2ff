#include "fault.h"

static void run(struct slot *s)
{
    fault_needs_huge(s, true);
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int advised = 0;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") { advised = madvise(p, bytes, MADV_HUGEPAGE); }
    check_huge_advice(s, advised);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    backing_given_back(s, bytes);
}

METHOD(fault_thp, .experiment = "fault", .name = "thp",
       .summary = "Permit transparent huge pages by MADV_HUGEPAGE, then touch every base page: one fault per huge page.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true,
       .laws = NOTHING_BEFORE "; " HUGE_FAULT_LAWS("first-touch") "; " HUGE_LAWS "; " HUGE_REFAULT "; "
               BACKING_LAWS("first-touch") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
