#include "reset.h"

static void reset(struct region *r)
{
    if (munmap(r->p, r->bytes) != 0)
        region_lost(r, "munmap");
    else
        region_map(r, MAP_FIXED_NOREPLACE);
    if (!r->failed)
        restore_image(r);
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_remap, .experiment = "reset", .name = "remap",
       .summary = "munmap() and mmap() at the same place: pages, page tables and the mapping are made anew.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:munmap,mmap,madvise?", .run = run);
