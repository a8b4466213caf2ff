#include "unmap.h"

static struct range r;

static void drop_part(const struct part *part)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += madvise(part->start + at, chunk, MADV_DONTNEED) != 0;
    atomic_fetch_add(&r.failed, failed);
}

static void run(struct slot *s)
{
    r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes;
    unmap_ready(&r);
    PARALLEL_PHASE(s, "take-away") { on_every_thread(s, drop_part, p, bytes, 0); }
    unmap_others(s, &r, "madvise");
    fact(s, "rss_bytes", resident_in(s, p, bytes).rss_bytes);
    unmap_end(s, &r);
}

METHOD(unmap_dontneed, .experiment = "unmap", .name = "dontneed",
       .summary = "madvise(MADV_DONTNEED): the pages are given back, the addresses stay.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; rss_bytes == 0",
       .calls = "take-away:madvise", .run = run);
