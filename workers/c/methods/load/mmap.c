#include "load.h"

enum { POPULATE_READ = 22 /* MADV_POPULATE_READ, Linux 5.14 */, NO_ADVICE = -1 };

/* The calls beside mmap and advice: one that reads ahead of it, or one behind it that maps all pages. */
enum beside { NOTHING, READAHEAD, POPULATE };

static SHARED_BODY void run(struct slot *s, enum beside beside, int flags, int advice)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        while (beside == READAHEAD && !l.failed && readahead(l.file, 0, l.bytes) != 0)
            if (errno != EINTR)
                load_lost(&l, "readahead");
        load_map(&l, flags);
        if (advice != NO_ADVICE)
            load_advise(&l, advice);
        if (beside == POPULATE)
            load_advise(&l, POPULATE_READ);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

static void lazy(struct slot *s) { run(s, NOTHING, 0, NO_ADVICE); }
METHOD(load_mmap_lazy, .experiment = "load", .name = "mmap-lazy",
       .summary = "A shared mapping: each page is found when it is used. What most loaders do.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = lazy);

static void populate(struct slot *s) { run(s, NOTHING, MAP_POPULATE, NO_ADVICE); }
METHOD(load_mmap_populate, .experiment = "load", .name = "mmap-populate",
       .summary = "MAP_POPULATE: all of it is read and mapped before the first use.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = POPULATED_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = populate);

static void random_order(struct slot *s) { run(s, NOTHING, 0, MADV_RANDOM); }
METHOD(load_mmap_random, .experiment = "load", .name = "mmap-random",
       .summary = "The mapping with MADV_RANDOM: no read-ahead for what was not asked for.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = random_order);

static void willneed(struct slot *s) { run(s, NOTHING, 0, MADV_WILLNEED); }
METHOD(load_mmap_willneed, .experiment = "load", .name = "mmap-willneed",
       .summary = "The mapping with MADV_WILLNEED: reading goes on in the background.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = willneed);

static void ahead(struct slot *s) { run(s, READAHEAD, 0, NO_ADVICE); }
METHOD(load_readahead_mmap, .experiment = "load", .name = "readahead-mmap",
       .summary = "readahead() of the whole file, then the mapping.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,readahead drop:munmap,close", .run = ahead);

static void populate_read(struct slot *s)
{
    int advice = key_is(s, "advice", "random") ? MADV_RANDOM : key_is(s, "advice", "sequential") ? MADV_SEQUENTIAL : NO_ADVICE;
    run(s, POPULATE, 0, advice);
}
METHOD(load_populate_read, .experiment = "load", .name = "populate-read",
       .summary = "The mapping with MADV_POPULATE_READ, after the advice that `advice` names.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS " advice:none|sequential|random", .memory = LOAD_MEMORY, .laws = POPULATED_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = populate_read);
