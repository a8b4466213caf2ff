#include "fault.h"

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    int forbidden;
    PHASE(s, "advise") { forbidden = madvise(p, bytes, MADV_NOHUGEPAGE); }
    check_done(s, forbidden != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    backing_given_back(s, bytes);
}

METHOD(fault_touch, .experiment = "fault", .name = "touch",
       .summary = "Map, then fault every base page in by writing one byte to it; huge pages are forbidden.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes",
       .laws = "first-touch.minor_faults == bytes / page_bytes; " NOTHING_BEFORE "; " BASE_PAGES "; "
               RE_TOUCH_LAW "; " BASE_REFAULT "; " BACKING_LAWS("first-touch") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
