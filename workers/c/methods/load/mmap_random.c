#include "load.h"

static void run(struct slot *s)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_map(&l, 0);
        load_advise(&l, MADV_RANDOM);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_mmap_random, .experiment = "load", .name = "mmap-random",
       .summary = "The mapping with MADV_RANDOM: no read-ahead for what was not asked for.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = run);
