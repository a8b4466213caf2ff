#include "unmap.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static SHARED_BODY void run(struct slot *s, int keep)
{
    struct range r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes, chunk = r.chunk, failed = 0;
    char *to = unmap_elsewhere(s, &r);
    unmap_ready(&r);
    PHASE(s, "take-away") {
        for (size_t at = 0; at < bytes; at += chunk)
            failed += mremap(p + at, chunk, chunk, MREMAP_MAYMOVE | MREMAP_FIXED | keep, to + at) == MAP_FAILED;
    }
    r.failed = failed;
    unmap_others(s, &r, "mremap");
    if (keep)
        fact(s, "rss_bytes", resident_in(s, p, bytes).rss_bytes);
    fact(s, "gone_calls", chunks_gone(&r));
    fact(s, "wrong_marks", wrong_marks(s, &r, to));
    fact(s, "moved_bytes", resident_in(s, to, bytes).rss_bytes);
    munmap(to, bytes);
    unmap_end(s, &r);
}

static void moved(struct slot *s) { run(s, 0); }
METHOD(unmap_mremap_move, .experiment = "unmap", .name = "mremap-move",
       .summary = "mremap(MREMAP_FIXED): the same pages at other addresses; the old ones are gone.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; gone_calls == bytes / chunk; wrong_marks == 0; moved_bytes == bytes",
       .calls = "take-away:mremap", .run = moved);

static void kept(struct slot *s) { run(s, MREMAP_DONTUNMAP); }
METHOD(unmap_mremap_dontunmap, .experiment = "unmap", .name = "mremap-dontunmap",
       .summary = "mremap(MREMAP_DONTUNMAP): the same pages at other addresses; the old ones stay mapped, and empty.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; rss_bytes == 0; gone_calls == 0; wrong_marks == 0; moved_bytes == bytes",
       .calls = "take-away:mremap", .run = kept);
