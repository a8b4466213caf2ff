#include "write.h"

static bool put(struct store *st, const struct record *r)
{
    return pwrite(st->fd, r->data, r->bytes, r->at) == (ssize_t)r->bytes && fdatasync(st->fd) == 0;
}

static void run(struct slot *s)
{
    struct store st;
    store_open(s, &st, 0);
    write_phases(s, &st, put, "pwrite or fdatasync");
    store_prove(s, &st);
    store_end(s, &st);
}

METHOD(write_pwrite_fdatasync, .experiment = "write", .name = "pwrite-fdatasync",
       .summary = "pwrite() of the record, then fdatasync(): what most stores do.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes",
       .laws = DURABLE_LAWS,
       .calls = "write:pwrite64,fdatasync timed-write:pwrite64,fdatasync", .run = run);
