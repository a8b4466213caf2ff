#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    return pwrite(st->fd, r->data, r->bytes, r->at) == (ssize_t)r->bytes;
}

static void run(struct slot *s)
{
    struct store st;
    store_open(s, &st, O_DSYNC);
    write_phases(s, &st, put, "pwrite");
    store_prove(s, &st);
    store_end(s, &st);
}

METHOD(write_dsync, .experiment = "write", .name = "dsync",
       .summary = "pwrite() to a file opened with O_DSYNC: one call writes and waits.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64 timed-write:pwrite64", .run = run);
