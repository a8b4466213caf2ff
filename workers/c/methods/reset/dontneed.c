#include "reset.h"

static void reset(struct region *r)
{
    if (madvise(r->p, r->bytes, MADV_DONTNEED) != 0)
        region_lost(r, "madvise");
    restore_image(r);
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_dontneed, .experiment = "reset", .name = "dontneed",
       .summary = "madvise(MADV_DONTNEED) of all in one call: the next use finds zeros by faults; an image is copied over them.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:madvise", .run = run);
