#include "load.h"

enum { NO_ADVICE = -1 };

static SHARED_BODY void run(struct slot *s, int flags, int advice)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_map(&l, flags);
        if (advice != NO_ADVICE)
            load_advise(&l, advice);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

static void lazy(struct slot *s) { run(s, 0, NO_ADVICE); }
METHOD(load_mmap_lazy, .experiment = "load", .name = "mmap-lazy",
       .summary = "A shared mapping: each page is found when it is used. What most loaders do.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = lazy);

static void populate(struct slot *s) { run(s, MAP_POPULATE, NO_ADVICE); }
METHOD(load_mmap_populate, .experiment = "load", .name = "mmap-populate",
       .summary = "MAP_POPULATE: all of it is read and mapped before the first use.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = POPULATED_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = populate);

static void random_order(struct slot *s) { run(s, 0, MADV_RANDOM); }
METHOD(load_mmap_random, .experiment = "load", .name = "mmap-random",
       .summary = "The mapping with MADV_RANDOM: no read-ahead for what was not asked for.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = random_order);

static void willneed(struct slot *s) { run(s, 0, MADV_WILLNEED); }
METHOD(load_mmap_willneed, .experiment = "load", .name = "mmap-willneed",
       .summary = "The mapping with MADV_WILLNEED: reading goes on in the background.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = willneed);
