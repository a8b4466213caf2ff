#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    size_t bytes;
    off_t at;
    const char *blocks = image_blocks(st, r, &bytes, &at);
    return pwrite(st->fd, blocks, bytes, at) == (ssize_t)bytes;
}

static void run(struct slot *s)
{
    struct store st;
    store_open(s, &st, O_DIRECT | O_DSYNC);
    write_phases(s, &st, put, "pwrite");
    store_prove(s, &st);
    store_end(s, &st);
}

METHOD(write_direct_dsync, .experiment = "write", .name = "direct-dsync",
       .summary = "pwrite() of whole blocks past the page cache, by O_DIRECT and O_DSYNC.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = run);
