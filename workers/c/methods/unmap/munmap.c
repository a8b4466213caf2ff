#include "unmap.h"

static struct range r;

static void munmap_part(const struct part *part)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += munmap(part->start + at, chunk) != 0;
    atomic_fetch_add(&r.failed, failed);
}

static void protect_part(const struct part *part)
{
    size_t chunk = r.chunk, failed = 0;
    for (size_t at = 0; at < part->bytes; at += chunk)
        failed += mprotect(part->start + at, chunk, PROT_READ) != 0;
    atomic_fetch_add(&r.failed, failed);
}

static SHARED_BODY void run(struct slot *s, void (*take_part)(const struct part *), const char *call, bool stays)
{
    r = unmap_begin(s, true);
    char *p = r.p;
    size_t bytes = r.bytes;
    unmap_ready(&r);
    PARALLEL_PHASE(s, "take-away") { on_every_thread(s, take_part, p, bytes, 0); }
    unmap_others(s, &r, call);
    if (stays) {
        fact(s, "read_only_calls", chunks_read_only(s, &r));
        fact(s, "rss_bytes", resident_in(s, p, bytes).rss_bytes);
    } else {
        fact(s, "gone_calls", chunks_gone(&r));
    }
    unmap_end(s, &r);
}

static void unmapped(struct slot *s) { run(s, munmap_part, "munmap", false); }
METHOD(unmap_munmap, .experiment = "unmap", .name = "munmap",
       .summary = "munmap() of touched memory, piece by piece: pages, page tables and addresses are given back.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; gone_calls == bytes / chunk",
       .calls = "take-away:munmap", .run = unmapped);

static void protected(struct slot *s) { run(s, protect_part, "mprotect", true); }
METHOD(unmap_mprotect, .experiment = "unmap", .name = "mprotect",
       .summary = "mprotect(PROT_READ): the pages stay, no thread may write to them any more.",
       .phases = UNMAP_PHASES, .keys = UNMAP_THREADS_KEYS, .memory = "bytes",
       .laws = UNMAP_LAWS "; " THREADS_LAWS "; rss_bytes == bytes; read_only_calls == bytes / chunk",
       .calls = "take-away:mprotect", .run = protected);
