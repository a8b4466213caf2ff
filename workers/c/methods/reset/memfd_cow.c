#include "reset.h"

static void reset(struct region *r)
{
    if (madvise(r->p, r->bytes, MADV_DONTNEED) != 0)
        region_lost(r, "madvise");
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, OVER_FILE);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_memfd_cow, .experiment = "reset", .name = "memfd-cow",
       .summary = "A private mapping of a sealed memory file: MADV_DONTNEED drops the copied pages, and the image shows again.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS SHOOTDOWN_LAW "; rss_bytes == 0; reset.minor_faults == 0; use.minor_faults >= dirty_pages; use.minor_faults <= dirty_pages + read_pages; restored_bytes == 0", .calls = "reset:madvise", .run = run);
