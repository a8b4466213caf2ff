#include "records_ring.h"

static void run(struct slot *s)
{
    records_by_ring(s, 0);
}

METHOD(load_io_uring_records, .experiment = "load", .name = "io_uring-records",
       .summary = "Reads of 32 records at once by io_uring, each time they are used; nothing is kept but the page cache.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = "bytes + bytes / 8", .laws = LOAD_LAWS "; anon_bytes == 0",
       .calls = RECORDS_RING_CALLS, .run = run);
