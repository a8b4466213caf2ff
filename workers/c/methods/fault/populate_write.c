#include "fault.h"

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int forbidden = 0, populated = 0;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") {
        forbidden = madvise(p, bytes, MADV_NOHUGEPAGE);
        populated = madvise(p, bytes, MADV_POPULATE_WRITE);
    }
    if (populated != 0 && errno == EINVAL)
        skip(s, "this kernel has no MADV_POPULATE_WRITE (Linux 5.14)");
    if (populated != 0)
        fail(s, "madvise");
    check_done(s, forbidden != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    backing_given_back(s, bytes);
}

METHOD(fault_populate_write, .experiment = "fault", .name = "populate-write",
       .summary = "Map, then fault base pages in by MADV_POPULATE_WRITE, which reports errors and can take a part.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes",
       .laws = "advise.minor_faults == bytes / page_bytes; first-touch.minor_faults == 0; " NOTHING_BEFORE "; "
               BASE_PAGES "; first-touch.rss_bytes == bytes; " RE_TOUCH_LAW "; " BASE_REFAULT "; " BACKING_LAWS("advise")
               "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
