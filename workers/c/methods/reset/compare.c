#include "reset.h"

static char zeros[65536];

/* Each page is compared with the first content: nothing has to note a write, and all of the region is read. */
static void reset(struct region *r)
{
    size_t page = r->page, bytes = r->bytes;
    const char *image = r->image;
    char *p = r->p;
    for (size_t at = 0; at < bytes; at += page)
        if (memcmp(p + at, image ? image + at : zeros, page) != 0)
            restore(r, p + at, page);
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    if (r.page > sizeof zeros)
        skip(s, "pages larger than 64 KiB");
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_compare, .experiment = "reset", .name = "compare",
       .summary = "memcmp() of each page with its first content; the pages that differ are put back.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS "; reset.minor_faults == 0; restored_bytes == dirty_pages * page_bytes", .calls = "", .run = run);
