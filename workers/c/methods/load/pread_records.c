#include "load.h"

/* Into the same buffer, one after the other: nothing is kept. */
static uint64_t use_read(struct load *l, size_t from, size_t to)
{
    uint64_t fold = 0;
    for (size_t i = from; i < to && !l->failed; i++) {
        for (size_t have = 0; have < l->record && !l->failed;) {
            ssize_t got = pread(l->file, l->buffer + have, l->record - have, (off_t)(l->order[i] * l->record + have));
            if (got < 0 && errno == EINTR)
                continue;
            errno = got == 0 ? EIO : errno;
            if (got <= 0)
                load_lost(l, "pread");
            else
                have += (size_t)got;
        }
        fold += record_fold(l->buffer, l->record, l->order[i]);
    }
    return fold;
}

static SHARED_BODY void run(struct slot *s, int flags)
{
    struct load l = load_begin(s);
    if (flags & O_DIRECT)
        file_on_device(s, l.folder);
    if (flags & O_DIRECT && l.record % 4096)
        skip(s, "O_DIRECT reads whole blocks of 4 KiB");
    PHASE(s, "open") { load_open(&l, flags); }
    load_check(s, &l);
    PHASE(s, "bring") { }
    load_check(s, &l);
    load_uses_by(s, &l, use_read);
    PHASE(s, "drop") {
        if (close(l.file) != 0)
            load_lost(&l, "close");
    }
    load_end(s, &l);
}

static void cached(struct slot *s) { run(s, 0); }
METHOD(load_pread_records, .experiment = "load", .name = "pread-records",
       .summary = "A read call for each record when it is used; nothing is kept but the page cache.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = "bytes + bytes / 8", .laws = LOAD_LAWS "; anon_bytes == 0",
       .calls = "open:openat answer:pread64 first-use:pread64? second-use:pread64 drop:close", .run = cached);

static void direct(struct slot *s) { run(s, O_DIRECT); }
METHOD(load_pread_records_direct, .experiment = "load", .name = "pread-records-direct",
       .summary = "An O_DIRECT read for each record, one after the other, each time it is used.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = "bytes + bytes / 8",
       .laws = LOAD_LAWS "; anon_bytes == 0" "; second_device_bytes >= used_bytes",
       .calls = "open:openat answer:pread64 first-use:pread64? second-use:pread64 drop:close", .run = direct);
