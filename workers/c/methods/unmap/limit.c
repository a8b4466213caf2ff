#include "unmap.h"

/* The least this machine can take: the same call where there is nothing to take away and nobody to tell. */
static void run(struct slot *s)
{
    struct range r = unmap_begin(s, false);
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

METHOD(unmap_limit, .experiment = "unmap", .name = "limit", .role = "limit",
       .summary = "MADV_DONTNEED of memory that was never touched: as many calls, with no page and no translation behind them.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "0",
       .laws = "failed_calls == 0; touched_bytes == 0; rss_bytes == 0; " OTHERS_LAWS
               "; bytes>=64 * chunk: foreign_shootdowns < bytes / chunk",
       .calls = "take-away:madvise", .run = run);
