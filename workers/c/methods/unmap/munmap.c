#include "unmap.h"

static struct range r;

static void munmap_part(const struct part *part)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += munmap(part->start + at, chunk) != 0;
    atomic_fetch_add(&r.failed, failed);
}

static void run(struct slot *s)
{
    r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes;
    unmap_ready(&r);
    PARALLEL_PHASE(s, "take-away") { on_every_thread(s, munmap_part, p, bytes, 0); }
    unmap_others(s, &r, "munmap");
    fact(s, "gone_calls", chunks_gone(&r));
    unmap_end(s, &r);
}

METHOD(unmap_munmap, .experiment = "unmap", .name = "munmap",
       .summary = "munmap() of touched memory, piece by piece: pages, page tables and addresses are given back.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; gone_calls == bytes / chunk",
       .calls = "take-away:munmap", .run = run);
