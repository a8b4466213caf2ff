#include "load.h"
#include <stdlib.h>

static void run(struct slot *s)
{
    need_memory(s);
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        l.p = malloc(l.bytes + l.record);
        if (l.p == NULL)
            load_lost(&l, "malloc");
        load_read(&l, 0, l.bytes);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") {
        free(l.p);
        if (close(l.file) != 0)
            load_lost(&l, "close");
    }
    load_end(s, &l);
}

METHOD(load_pread_malloc, .experiment = "load", .name = "pread-malloc",
       .summary = "Read calls of 1 MiB into memory from malloc.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = COPY_LAWS,
       .calls = "open:openat bring:mmap?,brk?,pread64 drop:munmap?,brk?,close", .run = run);
