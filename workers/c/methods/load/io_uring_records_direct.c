#include "records_ring.h"

static void run(struct slot *s)
{
    records_by_ring(s, O_DIRECT);
}

METHOD(load_io_uring_records_direct, .experiment = "load", .name = "io_uring-records-direct",
       .summary = "O_DIRECT reads of 32 records at once by io_uring, each time they are used; nothing is kept.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = "bytes + bytes / 8",
       .laws = LOAD_LAWS "; anon_bytes == 0" "; second_device_bytes >= used_bytes",
       .calls = RECORDS_RING_CALLS, .run = run);
