#include "load.h"

enum { POPULATE_READ = 22 }; /* MADV_POPULATE_READ, Linux 5.14 */

static void run(struct slot *s)
{
    struct load l = load_begin(s);
    int advice = key_is(s, "advice", "random") ? MADV_RANDOM : key_is(s, "advice", "sequential") ? MADV_SEQUENTIAL : -1;
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_map(&l, 0);
        if (advice >= 0)
            load_advise(&l, advice);
        load_advise(&l, POPULATE_READ);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_populate_read, .experiment = "load", .name = "populate-read",
       .summary = "The mapping with MADV_POPULATE_READ, after the advice that `advice` names.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS " advice:none|sequential|random", .memory = LOAD_MEMORY, .laws = POPULATED_LAWS,
       .calls = "open:openat bring:mmap,madvise drop:munmap,close", .run = run);
