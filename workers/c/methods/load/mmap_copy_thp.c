#include "load.h"
#include <string.h>

static void run(struct slot *s)
{
    need_memory(s);
    struct load l = load_begin(s);
    need_huge_pages(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_memory(&l, true);
        char *file = l.failed ? MAP_FAILED : mmap(NULL, l.bytes, PROT_READ, MAP_SHARED, l.file, 0);
        if (file == MAP_FAILED)
            load_lost(&l, "mmap");
        else {
            for (size_t at = 0; at < l.bytes; at += l.record)
                memcpy(l.p + at, file + at, l.record);
            if (munmap(file, l.bytes) != 0)
                load_lost(&l, "munmap");
        }
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_mmap_copy_thp, .experiment = "load", .name = "mmap-copy-thp",
       .summary = "Each record is copied from a mapping into transparent huge pages, as loaders fill their tensors.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = HUGE_COPY_LAWS,
       .calls = "open:openat bring:mmap,madvise,munmap drop:munmap,close", .run = run);
