#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    off_t from = r->at / (off_t)st->page_bytes * (off_t)st->page_bytes;
    memcpy(st->map + r->at, r->data, r->bytes);
    return sync_file_range(st->fd, from, (r->at - from) + (off_t)r->bytes,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0;
}

static void run(struct slot *s)
{
    struct store st;
    store_open(s, &st, 0);
    store_map(s, &st);
    write_phases(s, &st, put, "sync_file_range");
    store_prove(s, &st);
    store_end(s, &st);
}

METHOD(write_mmap_sync_range, .experiment = "write", .name = "mmap-sync-range", .group = "not-durable",
       .summary = "Stores into a shared mapping, then sync_file_range(): written, but no device flushed, no size, no block kept.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = UNFLUSHED_LAWS "; write.minor_faults + write.major_faults >= ops",
       .calls = "write:sync_file_range timed-write:sync_file_range", .run = run);
