#include "load.h"

static struct load l;

static void read_part(const struct part *part)
{
    size_t from = (size_t)part->start;
    load_read(&l, from, from + part->bytes);
}

static void run(struct slot *s)
{
    need_memory(s);
    l = load_begin(s);
    need_huge_pages(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PARALLEL_PHASE(s, "bring") {
        load_memory(&l, true);
        on_every_thread(s, read_part, NULL, l.failed ? 0 : l.bytes, 0);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_pread_threads_thp, .experiment = "load", .name = "pread-threads-thp",
       .summary = "Several threads read, each its own part, into transparent huge pages.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS THREADS_OPTION, .memory = LOAD_MEMORY, .laws = HUGE_COPY_LAWS "; " THREADS_LAWS,
       .calls = "open:openat bring:mmap,madvise,pread64 drop:munmap,close", .run = run);
