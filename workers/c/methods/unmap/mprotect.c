#include "unmap.h"

static void run(struct slot *s)
{
    struct range r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes, chunk = r.chunk, failed = 0;
    unmap_ready(&r);
    PHASE(s, "take-away") {
        for (size_t at = 0; at < bytes; at += chunk)
            failed += mprotect(p + at, chunk, PROT_READ) != 0;
    }
    r.failed = failed;
    unmap_others(s, &r, "mprotect");
    fact(s, "read_only_calls", chunks_read_only(s, &r));
    fact(s, "rss_bytes", resident_in(s, p, bytes).rss_bytes);
    unmap_end(s, &r);
}

METHOD(unmap_mprotect, .experiment = "unmap", .name = "mprotect",
       .summary = "mprotect(PROT_READ): the pages stay, no thread may write to them any more.",
       .phases = UNMAP_PHASES, .keys = UNMAP_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; rss_bytes == bytes; read_only_calls == bytes / chunk",
       .calls = "take-away:mprotect", .run = run);
