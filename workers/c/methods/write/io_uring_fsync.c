#include "uring.h"

static bool put(struct store *st, const struct record *r)
{
    (void)st;
    return uring_put(r);
}

static void run(struct slot *s)
{
    struct store st;
    store_open(s, &st, 0);
    uring_begin(s, st.fd);
    write_phases(s, &st, put, "io_uring_enter");
    uring_end();
    store_prove(s, &st);
    store_end(s, &st);
}

METHOD(write_io_uring_fsync, .experiment = "write", .name = "io_uring-fsync",
       .summary = "A write and an fdatasync linked behind it in one io_uring, submitted and waited for by one call.",
       .phases = WRITE_PHASES, .keys = WRITE_KEYS, .memory = "2 * file_bytes + 2 * ops * bytes", .laws = DURABLE_LAWS,
       .calls = "write:io_uring_enter timed-write:io_uring_enter", .run = run);
