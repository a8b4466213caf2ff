#include "kinds.h"

static void run(struct slot *s)
{
    fault_begin(s);
    char *p = kind_map(s, false);
    size_t bytes = s->bytes;
    PARALLEL_PHASE(s, "first-read") { on_every_thread(s, read_pages, p, bytes, 0); }
    fact(s, "first-read.rss_bytes", resident_in(s, p, bytes).rss_bytes);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
}

METHOD(fault_zero_then_write, .experiment = "fault", .name = "zero-then-write",
       .summary = "Read each fresh page before writing to it: a fault maps the page of zeros, another replaces it.",
       .phases = "map advise first-read first-touch re-touch release refault unmap", .keys = FAULT_KEYS, .memory = "bytes",
       .laws = FAULT_A_PAGE("first-read") "; " FAULT_A_PAGE("first-touch") "; " NOTHING_BEFORE "; first-read.rss_bytes == 0; "
               "first-touch.rss_bytes == bytes; " BASE_PAGES "; " RE_TOUCH_LAW "; " BASE_REFAULT "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
