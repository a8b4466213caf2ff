#include "load.h"

static void run(struct slot *s)
{
    need_memory(s);
    struct load l = load_begin(s);
    need_huge_pages(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_memory(&l, true);
        load_read(&l, 0, l.bytes);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_pread_thp, .experiment = "load", .name = "pread-thp",
       .summary = "Read calls of 1 MiB into transparent huge pages.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = HUGE_COPY_LAWS,
       .calls = "open:openat bring:mmap,madvise,pread64 drop:munmap,close", .run = run);
