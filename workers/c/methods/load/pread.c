#include "load.h"
#include <stdlib.h>

static SHARED_BODY void run(struct slot *s, bool huge)
{
    need_memory(s);
    struct load l = load_begin(s);
    if (huge)
        need_huge_pages(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        if (huge)
            load_memory(&l, true);
        else if ((l.p = malloc(l.bytes + l.record)) == NULL)
            load_lost(&l, "malloc");
        load_read(&l, 0, l.bytes);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") {
        if (huge)
            load_drop(&l);
        else {
            free(l.p);
            if (close(l.file) != 0)
                load_lost(&l, "close");
        }
    }
    load_end(s, &l);
}

static void huge(struct slot *s) { run(s, true); }
METHOD(load_pread_thp, .experiment = "load", .name = "pread-thp",
       .summary = "Read calls of 1 MiB into transparent huge pages.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = HUGE_COPY_LAWS,
       .calls = "open:openat bring:mmap,madvise,pread64 drop:munmap,close", .run = huge);

static void from_malloc(struct slot *s) { run(s, false); }
METHOD(load_pread_malloc, .experiment = "load", .name = "pread-malloc",
       .summary = "Read calls of 1 MiB into memory from malloc.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = COPY_LAWS,
       .calls = "open:openat bring:mmap?,brk?,pread64 drop:munmap?,brk?,close", .run = from_malloc);
