#include "write.h"

static bool put_by_msync(struct store *st, const struct record *r)
{
    off_t from = r->at / (off_t)st->page_bytes * (off_t)st->page_bytes;
    memcpy(st->map + r->at, r->data, r->bytes);
    return msync(st->map + from, (size_t)(r->at - from) + r->bytes, MS_SYNC) == 0;
}

static bool put_by_range(struct store *st, const struct record *r)
{
    off_t from = r->at / (off_t)st->page_bytes * (off_t)st->page_bytes;
    memcpy(st->map + r->at, r->data, r->bytes);
    return sync_file_range(st->fd, from, (r->at - from) + (off_t)r->bytes,
                           SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0;
}

static SHARED_BODY void run(struct slot *s, put_record *put, const char *call)
{
    struct store st;
    store_open(s, &st, 0);
    store_map(s, &st);
    write_phases(s, &st, put, call);
    store_prove(s, &st);
    store_end(s, &st);
}

static void by_msync(struct slot *s) { run(s, put_by_msync, "msync"); }
METHOD(write_mmap_msync, .experiment = "write", .name = "mmap-msync",
       .summary = "Stores into a shared mapping of the file, then msync(MS_SYNC) of the pages that the record is in.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS "; write.minor_faults + write.major_faults >= ops",
       .calls = "write:msync timed-write:msync", .run = by_msync);

static void by_range(struct slot *s) { run(s, put_by_range, "sync_file_range"); }
METHOD(write_mmap_sync_range, .experiment = "write", .name = "mmap-sync-range", .group = "not-durable",
       .summary = "Stores into a shared mapping, then sync_file_range(): written, but no device flushed, no size, no block kept.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = UNFLUSHED_LAWS "; write.minor_faults + write.major_faults >= ops",
       .calls = "write:sync_file_range timed-write:sync_file_range", .run = by_range);
