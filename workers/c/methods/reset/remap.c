#include "reset.h"

static void map_over(struct region *r)
{
    region_map(r, MAP_FIXED);
    if (!r->failed)
        restore_image(r);
}

static void unmap_and_map(struct region *r)
{
    if (munmap(r->p, r->bytes) != 0)
        region_lost(r, "munmap");
    else
        region_map(r, MAP_FIXED_NOREPLACE);
    if (!r->failed)
        restore_image(r);
}

static SHARED_BODY void run(struct slot *s, void (*reset)(struct region *))
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

static void over(struct slot *s) { run(s, map_over); }
METHOD(reset_map_over, .experiment = "reset", .name = "map-over",
       .summary = "mmap(MAP_FIXED) over what is there: the old mapping goes and the new one comes in one call.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:mmap,madvise?", .run = over);

static void anew(struct slot *s) { run(s, unmap_and_map); }
METHOD(reset_remap, .experiment = "reset", .name = "remap",
       .summary = "munmap() and mmap() at the same place: pages, page tables and the mapping are made anew.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:munmap,mmap,madvise?", .run = anew);
