#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    size_t bytes;
    off_t at;
    const char *blocks = image_blocks(st, r, &bytes, &at);
    return pwrite(st->fd, blocks, bytes, at) == (ssize_t)bytes;
}

static SHARED_BODY void run(struct slot *s, int flags)
{
    struct store st;
    store_open(s, &st, flags);
    write_phases(s, &st, put, "pwrite");
    store_prove(s, &st);
    store_end(s, &st);
}

static void flushed(struct slot *s) { run(s, O_DIRECT | O_DSYNC); }
METHOD(write_direct_dsync, .experiment = "write", .name = "direct-dsync",
       .summary = "pwrite() of whole blocks past the page cache, by O_DIRECT and O_DSYNC.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = flushed);

static void unflushed(struct slot *s) { run(s, O_DIRECT); }
METHOD(write_limit, .experiment = "write", .name = "limit", .role = "limit",
       .summary = "Overwrite whole blocks by O_DIRECT without any flush: the device alone, which no durable record can do without.",
       .phases = WRITE_PHASES, .keys = "bytes:size ops:count file_bytes:size", .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = UNFLUSHED_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = unflushed);
