#include "reset.h"

static struct region *whole;

static void clear_part(const struct part *part)
{
    struct region mine = *whole; /* restore() counts */
    restore(&mine, part->start, part->bytes);
}

static void reset(struct region *r)
{
    whole = r;
    on_every_thread(r->slot, clear_part, r->p, r->bytes, 0);
    r->restored += r->bytes;
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_memset, .experiment = "reset", .name = "memset",
       .summary = "memset() of all, or memcpy() of the image: no page is taken away, none is found again.",
       .phases = RESET_PHASES, .keys = SHARED_KEYS, .memory = "2 * bytes",
       .laws = KEPT_LAWS "; " THREADS_LAWS "; restored_bytes == bytes; rss_bytes == bytes", .calls = "", .run = run);
