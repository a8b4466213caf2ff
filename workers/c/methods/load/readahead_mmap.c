#include "load.h"

static void run(struct slot *s)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        while (!l.failed && readahead(l.file, 0, l.bytes) != 0)
            if (errno != EINTR)
                load_lost(&l, "readahead");
        load_map(&l, 0);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_readahead_mmap, .experiment = "load", .name = "readahead-mmap",
       .summary = "readahead() of the whole file, then the mapping.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap,readahead drop:munmap,close", .run = run);
