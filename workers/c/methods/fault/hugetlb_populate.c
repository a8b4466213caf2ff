#include "hugetlb.h"

static void run(struct slot *s)
{
    hugetlb_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);
    }
    hugetlb_check(s, p);
    PHASE(s, "advise") { }
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
}

METHOD(fault_hugetlb_populate, .experiment = "fault", .name = "hugetlb-populate",
       .summary = "Map from the reserved pool of huge pages, faulted in within the call by MAP_POPULATE.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true, .needs = "huge-pages",
       .laws = "map.minor_faults == bytes / huge_page_bytes; first-touch.minor_faults == 0; huge_bytes == bytes; "
               RE_TOUCH_LAW "; release=dontneed: refault.minor_faults == bytes / huge_page_bytes" "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap release:madvise unmap:munmap", .run = run);
