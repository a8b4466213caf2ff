#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    off_t from = r->at / (off_t)st->page_bytes * (off_t)st->page_bytes;
    memcpy(st->map + r->at, r->data, r->bytes);
    return msync(st->map + from, (size_t)(r->at - from) + r->bytes, MS_SYNC) == 0;
}

static void run(struct slot *s)
{
    struct store st;
    store_open(s, &st, 0);
    store_map(s, &st);
    write_phases(s, &st, put, "msync");
    store_prove(s, &st);
    store_end(s, &st);
}

METHOD(write_mmap_msync, .experiment = "write", .name = "mmap-msync",
       .summary = "Stores into a shared mapping of the file, then msync(MS_SYNC) of the pages that the record is in.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS "; write.minor_faults + write.major_faults >= ops",
       .calls = "write:msync timed-write:msync", .run = run);
