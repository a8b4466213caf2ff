#include "reset.h"

static struct region *whole;

static void discard_part(const struct part *part)
{
    if (madvise(part->start, part->bytes, MADV_DONTNEED) != 0)
        region_lost(whole, "madvise");
    struct region mine = *whole; /* restore() counts */
    if (mine.image)
        restore(&mine, part->start, part->bytes);
}

static void reset(struct region *r)
{
    whole = r;
    on_every_thread(r->slot, discard_part, r->p, r->bytes, 0);
    r->restored += r->image ? r->bytes : 0;
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_dontneed, .experiment = "reset", .name = "dontneed",
       .summary = "madvise(MADV_DONTNEED) of all in one call: the next use finds zeros by faults; an image is copied over them.",
       .phases = RESET_PHASES, .keys = SHARED_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW "; " THREADS_LAWS, .calls = "reset:madvise", .run = run);
