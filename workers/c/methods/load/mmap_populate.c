#include "load.h"

static void run(struct slot *s)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") { load_map(&l, MAP_POPULATE); }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_mmap_populate, .experiment = "load", .name = "mmap-populate",
       .summary = "MAP_POPULATE: all of it is read and mapped before the first use.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = POPULATED_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = run);
