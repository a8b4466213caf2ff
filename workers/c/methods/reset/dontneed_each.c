#include "reset.h"

static void reset(struct region *r)
{
    size_t part = r->bytes / RANGES;
    for (size_t i = 0; i < RANGES; i++)
        if (madvise(r->p + i * part, part, MADV_DONTNEED) != 0)
            region_lost(r, "madvise");
    restore_image(r);
}

static void run(struct slot *s)
{
    need_ranges(s);
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_dontneed_each, .experiment = "reset", .name = "dontneed-each",
       .summary = "madvise(MADV_DONTNEED) of sixteen ranges in as many calls, as a pool does with sixteen instances.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:madvise", .run = run);
