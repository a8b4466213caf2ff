#include "reset.h"

static void reset(struct region *r)
{
    region_map(r, MAP_FIXED);
    if (!r->failed)
        restore_image(r);
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_map_over, .experiment = "reset", .name = "map-over",
       .summary = "mmap(MAP_FIXED) over what is there: the old mapping goes and the new one comes in one call.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:mmap,madvise?", .run = run);
