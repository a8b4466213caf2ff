#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    return pwrite(st->fd, r->data, r->bytes, r->at) == (ssize_t)r->bytes;
}

static bool put_and_sync(struct store *st, const struct record *r)
{
    return put(st, r) && fdatasync(st->fd) == 0;
}

static bool put_blocks(struct store *st, const struct record *r)
{
    size_t bytes;
    off_t at;
    const char *blocks = image_blocks(st, r, &bytes, &at);
    return pwrite(st->fd, blocks, bytes, at) == (ssize_t)bytes;
}

static SHARED_BODY void run(struct slot *s, int flags, put_record *put_one, const char *call)
{
    struct store st;
    store_open(s, &st, flags);
    write_phases(s, &st, put_one, call);
    store_prove(s, &st);
    store_end(s, &st);
}

static void flagged(struct slot *s) { run(s, O_DSYNC, put, "pwrite"); }
METHOD(write_dsync, .experiment = "write", .name = "dsync",
       .summary = "pwrite() to a file opened with O_DSYNC: one call writes and waits.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = flagged);

static void synced(struct slot *s) { run(s, 0, put_and_sync, "pwrite or fdatasync"); }
METHOD(write_pwrite_fdatasync, .experiment = "write", .name = "pwrite-fdatasync",
       .summary = "pwrite() of the record, then fdatasync(): what most stores do.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64,fdatasync timed-write:pwrite64,fdatasync", .run = synced);

static void flushed(struct slot *s) { run(s, O_DIRECT | O_DSYNC, put_blocks, "pwrite"); }
METHOD(write_direct_dsync, .experiment = "write", .name = "direct-dsync",
       .summary = "pwrite() of whole blocks past the page cache, by O_DIRECT and O_DSYNC.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = flushed);

static void unflushed(struct slot *s) { run(s, O_DIRECT, put_blocks, "pwrite"); }
METHOD(write_limit, .experiment = "write", .name = "limit", .role = "limit",
       .summary = "Overwrite whole blocks by O_DIRECT without any flush: the device alone, which no durable record can do without.",
       .phases = WRITE_PHASES, .keys = "bytes:size ops:count file_bytes:size", .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = UNFLUSHED_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = unflushed);
