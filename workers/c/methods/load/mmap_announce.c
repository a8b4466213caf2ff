#include "load.h"

/* The kernel is told of all records of a batch before the first of them is used. */
static uint64_t use_announced(struct load *l, size_t from, size_t to)
{
    uint64_t fold = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = from; i < to; i += BATCH_RECORDS) {
        size_t end = i + BATCH_RECORDS < to ? i + BATCH_RECORDS : to;
        for (size_t k = i; k < end; k++) {
            size_t start = l->order[k] * l->record, before = start % page;
            if (madvise(l->p + start - before, before + l->record, MADV_WILLNEED) != 0 && errno != EINTR)
                load_lost(l, "madvise");
        }
        for (size_t k = i; k < end; k++)
            fold += record_fold(l->p + l->order[k] * l->record, l->record, l->order[k]);
    }
    return fold;
}

static void run(struct slot *s)
{
    struct load l = load_begin(s);
    l.batch = BATCH_RECORDS;
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") { load_map(&l, 0); }
    load_check(s, &l);
    load_uses_by(s, &l, use_announced);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_mmap_announce, .experiment = "load", .name = "mmap-announce",
       .summary = "The mapping; MADV_WILLNEED for each of 16 records, then their use.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap answer:madvise first-use:madvise? second-use:madvise drop:munmap,close", .run = run);
