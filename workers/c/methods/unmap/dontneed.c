#include "unmap.h"

static void run(struct slot *s)
{
    struct range r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes, chunk = r.chunk, failed = 0;
    unmap_ready(&r);
    PHASE(s, "take-away") {
        for (size_t at = 0; at < bytes; at += chunk)
            failed += madvise(p + at, chunk, MADV_DONTNEED) != 0;
    }
    r.failed = failed;
    unmap_others(s, &r, "madvise");
    fact(s, "rss_bytes", resident_in(s, p, bytes).rss_bytes);
    unmap_end(s, &r);
}

METHOD(unmap_dontneed, .experiment = "unmap", .name = "dontneed",
       .summary = "madvise(MADV_DONTNEED): the pages are given back, the addresses stay.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; rss_bytes == 0",
       .calls = "take-away:madvise", .run = run);
