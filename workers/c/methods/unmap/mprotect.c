#include "unmap.h"

static struct range r;

static void protect_part(const struct part *part)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += mprotect(part->start + at, chunk, PROT_READ) != 0;
    atomic_fetch_add(&r.failed, failed);
}

static void run(struct slot *s)
{
    r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes;
    unmap_ready(&r);
    PARALLEL_PHASE(s, "take-away") { on_every_thread(s, protect_part, p, bytes, 0); }
    unmap_others(s, &r, "mprotect");
    fact(s, "read_only_calls", chunks_read_only(s, &r));
    fact(s, "rss_bytes", resident_in(s, p, bytes).rss_bytes);
    unmap_end(s, &r);
}

METHOD(unmap_mprotect, .experiment = "unmap", .name = "mprotect",
       .summary = "mprotect(PROT_READ): the pages stay, no thread may write to them any more.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; rss_bytes == bytes; read_only_calls == bytes / chunk",
       .calls = "take-away:mprotect", .run = run);
