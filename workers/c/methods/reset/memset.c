#include "reset.h"

static void reset(struct region *r)
{
    restore(r, r->p, r->bytes);
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_memset, .experiment = "reset", .name = "memset",
       .summary = "memset() of all, or memcpy() of the image: no page is taken away, none is found again.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = KEPT_LAWS "; restored_bytes == bytes; rss_bytes == bytes", .calls = "", .run = run);
