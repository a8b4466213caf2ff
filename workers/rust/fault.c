/* The untimed halves of the Rust methods of `fault`; the side measurements after the first touch are the native worker's. */
#include "methods/fault/fault.h"
#include "rust.h"

IN_RUST void rust_touch_pages(const struct part *part);

static void run(struct slot *s, int advice)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int advised = 0;
    rust_touch_pages(&(struct part){at, 0, s->page_bytes, 0}); /* its code is not yet mapped in a process that was forked */
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") { advised = madvise(p, bytes, advice); }
    if (advice == MADV_HUGEPAGE)
        check_huge_advice(s, advised);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, rust_touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
    backing_given_back(s, bytes);
}

static void touch(struct slot *s)
{
    run(s, MADV_NOHUGEPAGE);
}

static void thp(struct slot *s)
{
    fault_needs_huge(s, true);
    run(s, MADV_HUGEPAGE);
}

METHOD(rust_fault_touch, .experiment = "fault", .name = "touch",
       .summary = "Map, then fault every base page in by a slice's chunks_mut; huge pages are forbidden.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes",
       .laws = "first-touch.minor_faults == bytes / page_bytes; " NOTHING_BEFORE "; " BASE_PAGES "; "
               RE_TOUCH_LAW "; " BASE_REFAULT "; " BACKING_LAWS("first-touch") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = touch);

METHOD(rust_fault_thp, .experiment = "fault", .name = "thp",
       .summary = "Permit transparent huge pages by madvise, then fault them in by a slice's chunks_mut.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true,
       .laws = NOTHING_BEFORE "; " HUGE_FAULT_LAWS("first-touch") "; " HUGE_LAWS "; " HUGE_REFAULT "; "
               BACKING_LAWS("first-touch") "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = thp);
