#include "load.h"

#define RECORDS_RING_CALLS                                                                                             \
    "open:openat,io_uring_setup,mmap answer:io_uring_enter first-use:io_uring_enter? second-use:io_uring_enter "          \
    "drop:munmap,close"

static struct steps steps;
static struct steps_ring ring;
static size_t places[RING_RECORDS];

/* As many records are asked for at once as the ring has room for; then they are used. */
static uint64_t use_ring(struct load *l, size_t from, size_t to)
{
    uint64_t fold = 0;
    for (size_t i = from; i < to && !l->failed; i += RING_RECORDS) {
        size_t count = to - i < RING_RECORDS ? to - i : RING_RECORDS;
        for (size_t k = 0; k < count; k++)
            places[k] = l->order[i + k] * l->record;
        steps_ring_pass(&steps, &ring, 0, count);
        errno = steps.error;
        if (steps.failed)
            load_lost(l, steps.failed);
        for (size_t k = 0; k < count; k++)
            fold += record_fold(l->buffer + k * l->record, l->record, l->order[i + k]);
    }
    return fold;
}

static SHARED_BODY void run(struct slot *s, int flags)
{
    struct load l = load_begin(s);
    if (flags & O_DIRECT) {
        file_on_device(s, l.folder);
        if (l.record % 4096)
            skip(s, "O_DIRECT reads whole blocks of 4 KiB");
    }
    steps_ring_possible(s);
    l.batch = RING_RECORDS;
    steps = (struct steps){.memory = l.buffer, .at = places, .bytes = l.bytes, .step = l.record, .slots = RING_RECORDS,
                           .depth = RING_RECORDS};
    PHASE(s, "open") {
        load_open(&l, flags);
        steps.file = l.file;
        steps_ring_open(&steps, &ring);
    }
    load_check(s, &l);
    PHASE(s, "bring") { }
    load_check(s, &l);
    load_uses_by(s, &l, use_ring);
    PHASE(s, "drop") {
        steps_ring_close(&steps, &ring);
        errno = steps.error;
        if (steps.failed)
            load_lost(&l, steps.failed);
        if (close(l.file) != 0)
            load_lost(&l, "close");
    }
    load_end(s, &l);
}

static void cached(struct slot *s) { run(s, 0); }
METHOD(load_io_uring_records, .experiment = "load", .name = "io_uring-records",
       .summary = "Reads of 32 records at once by io_uring, each time they are used; nothing is kept but the page cache.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = "bytes + bytes / 8", .laws = LOAD_LAWS "; anon_bytes == 0",
       .calls = RECORDS_RING_CALLS, .run = cached);

static void direct(struct slot *s) { run(s, O_DIRECT); }
METHOD(load_io_uring_records_direct, .experiment = "load", .name = "io_uring-records-direct",
       .summary = "O_DIRECT reads of 32 records at once by io_uring, each time they are used; nothing is kept.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = "bytes + bytes / 8",
       .laws = LOAD_LAWS "; anon_bytes == 0" "; second_device_bytes >= used_bytes",
       .calls = RECORDS_RING_CALLS, .run = direct);
