#include "unmap.h"

/* The last pages marked may still be on their way to the list (smaps then lacks a few dozen). */
static void run(struct slot *s)
{
    struct range r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes, chunk = r.chunk, failed = 0;
    unmap_ready(&r);
    PHASE(s, "take-away") {
        for (size_t at = 0; at < bytes; at += chunk)
            failed += madvise(p + at, chunk, MADV_FREE) != 0;
    }
    r.failed = failed;
    unmap_others(s, &r, "madvise");
    struct resident now = resident_in(s, p, bytes);
    fact(s, "rss_bytes", now.rss_bytes);
    fact(s, "lazyfree_bytes", now.lazyfree_bytes);
    unmap_end(s, &r);
}

METHOD(unmap_free, .experiment = "unmap", .name = "free", .group = "give-back-later",
       .summary = "Give back later by madvise(MADV_FREE), not free(3): the pages may be taken when memory is short; until then they are still there.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; rss_bytes == bytes; lazyfree_bytes + 64 * page_bytes >= bytes",
       .calls = "take-away:madvise", .run = run);
