#include "reset.h"

/* Each thread has a part of the region. */
static struct region *whole;

static void discard_part(const struct part *part)
{
    if (madvise(part->start, part->bytes, MADV_DONTNEED) != 0)
        region_lost(whole, "madvise");
    struct region mine = *whole; /* restore() counts */
    if (mine.image)
        restore(&mine, part->start, part->bytes);
}

static void discard(struct region *r)
{
    whole = r;
    on_every_thread(r->slot, discard_part, r->p, r->bytes, 0);
    r->restored += r->image ? r->bytes : 0;
}

static void clear_part(const struct part *part)
{
    struct region mine = *whole; /* restore() counts */
    restore(&mine, part->start, part->bytes);
}

static void clear(struct region *r)
{
    whole = r;
    on_every_thread(r->slot, clear_part, r->p, r->bytes, 0);
    r->restored += r->bytes;
}

static SHARED_BODY void run(struct slot *s, void (*reset)(struct region *))
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

static void discarded(struct slot *s) { run(s, discard); }
METHOD(reset_dontneed, .experiment = "reset", .name = "dontneed",
       .summary = "madvise(MADV_DONTNEED) of all: the range stays, the next use finds zeros by faults; an image is copied over.",
       .phases = RESET_PHASES, .keys = SHARED_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW "; " THREADS_LAWS, .calls = "reset:madvise", .run = discarded);

static void cleared(struct slot *s) { run(s, clear); }
METHOD(reset_memset, .experiment = "reset", .name = "memset",
       .summary = "memset() of all, or memcpy() of the image: no page is taken away, none is found again.",
       .phases = RESET_PHASES, .keys = SHARED_KEYS, .memory = "2 * bytes",
       .laws = KEPT_LAWS "; " THREADS_LAWS "; restored_bytes == bytes; rss_bytes == bytes", .calls = "",
       .run = cleared);
