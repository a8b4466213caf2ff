#include "unmap.h"

static struct range r;

static SHARED_BODY void advise_part(const struct part *part, int advice)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += madvise(part->start + at, chunk, advice) != 0;
    atomic_fetch_add(&r.failed, failed);
}

static void drop_part(const struct part *part) { advise_part(part, MADV_DONTNEED); }
static void free_part(const struct part *part) { advise_part(part, MADV_FREE); }

/* The last pages marked may still be on their way to the list (smaps then lacks a few dozen). */
static SHARED_BODY void run(struct slot *s, bool later)
{
    r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes;
    unmap_ready(&r);
    PARALLEL_PHASE(s, "take-away") { on_every_thread(s, later ? free_part : drop_part, p, bytes, 0); }
    unmap_others(s, &r, "madvise");
    struct resident now = resident_in(s, p, bytes);
    fact(s, "rss_bytes", now.rss_bytes);
    if (later)
        fact(s, "lazyfree_bytes", now.lazyfree_bytes);
    unmap_end(s, &r);
}

static void at_once(struct slot *s) { run(s, false); }
METHOD(unmap_dontneed, .experiment = "unmap", .name = "dontneed",
       .summary = "madvise(MADV_DONTNEED): the pages are given back, the addresses stay.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; rss_bytes == 0",
       .calls = "take-away:madvise", .run = at_once);

static void when_wanted(struct slot *s) { run(s, true); }
METHOD(unmap_free, .experiment = "unmap", .name = "free", .group = "give-back-later",
       .summary = "Give back later by madvise(MADV_FREE), not free(3): the pages may be taken when memory is short; until then they are still there.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; rss_bytes == bytes; lazyfree_bytes + 64 * page_bytes >= bytes",
       .calls = "take-away:madvise", .run = when_wanted);
