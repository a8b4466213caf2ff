#include "unmap.h"

static void run(struct slot *s)
{
    struct range r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes, chunk = r.chunk, failed = 0;
    unmap_ready(&r);
    PHASE(s, "take-away") {
        for (size_t at = 0; at < bytes; at += chunk)
            failed += munmap(p + at, chunk) != 0;
    }
    r.failed = failed;
    unmap_others(s, &r, "munmap");
    fact(s, "gone_calls", chunks_gone(&r));
    unmap_end(s, &r);
}

METHOD(unmap_munmap, .experiment = "unmap", .name = "munmap",
       .summary = "munmap() of touched memory, piece by piece: pages, page tables and addresses are given back.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; gone_calls == bytes / chunk",
       .calls = "take-away:munmap", .run = run);
