#include "fault.h"

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    /* No advice can come before the call populates, so huge pages are forbidden to the process. */
    forbid_huge_pages(s, true);
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") { }
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    forbid_huge_pages(s, false);
    backing_given_back(s, bytes);
}

/* After a fork the copy may copy one page of its own, of its stack or its counters: at most one for each copy. */
METHOD(fault_populate, .experiment = "fault", .name = "populate",
       .summary = "mmap with MAP_POPULATE: the kernel faults every base page in within the one call; huge pages are forbidden.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes",
       .laws = "map.minor_faults == bytes / page_bytes; before.rss_bytes == bytes; before.huge_bytes == 0; " BASE_PAGES
               "; first-touch.minor_faults <= processes - 1; first-touch.rss_bytes == bytes; " RE_TOUCH_LAW "; " BASE_REFAULT "; "
               BACKING_LAWS("map") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap release:madvise unmap:munmap", .run = run);
