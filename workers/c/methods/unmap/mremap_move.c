#include "unmap.h"

static void run(struct slot *s)
{
    struct range r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes, chunk = r.chunk, failed = 0;
    char *to = unmap_elsewhere(s, &r);
    unmap_ready(&r);
    PHASE(s, "take-away") {
        for (size_t at = 0; at < bytes; at += chunk)
            failed += mremap(p + at, chunk, chunk, MREMAP_MAYMOVE | MREMAP_FIXED, to + at) == MAP_FAILED;
    }
    r.failed = failed;
    unmap_others(s, &r, "mremap");
    fact(s, "gone_calls", chunks_gone(&r));
    fact(s, "wrong_marks", wrong_marks(s, &r, to));
    fact(s, "moved_bytes", resident_in(s, to, bytes).rss_bytes);
    munmap(to, bytes);
    unmap_end(s, &r);
}

METHOD(unmap_mremap_move, .experiment = "unmap", .name = "mremap-move",
       .summary = "mremap(MREMAP_FIXED): the same pages at other addresses; the old ones are gone.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; gone_calls == bytes / chunk; wrong_marks == 0; moved_bytes == bytes",
       .calls = "take-away:mremap", .run = run);
