#include "unmap.h"

static struct range r;

static void free_part(const struct part *part)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += madvise(part->start + at, chunk, MADV_FREE) != 0;
    atomic_fetch_add(&r.failed, failed);
}

/* The last pages marked may still be on their way to the list (smaps then lacks a few dozen). */
static void run(struct slot *s)
{
    r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes;
    unmap_ready(&r);
    PARALLEL_PHASE(s, "take-away") { on_every_thread(s, free_part, p, bytes, 0); }
    unmap_others(s, &r, "madvise");
    struct resident now = resident_in(s, p, bytes);
    fact(s, "rss_bytes", now.rss_bytes);
    fact(s, "lazyfree_bytes", now.lazyfree_bytes);
    unmap_end(s, &r);
}

METHOD(unmap_free, .experiment = "unmap", .name = "free", .group = "give-back-later",
       .summary = "Give back later by madvise(MADV_FREE), not free(3): the pages may be taken when memory is short; until then they are still there.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; rss_bytes == bytes; lazyfree_bytes + 64 * page_bytes >= bytes",
       .calls = "take-away:madvise", .run = run);
