#include "worker.h"

static void run(struct slot *s)
{
    PHASE(s, "write") { }
    PHASE(s, "timed-write") { }
}

METHOD(write_null, .experiment = "write", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = "write timed-write", .keys = "bytes:size", .memory = "0", .laws = "write.minor_faults == 0", .calls = "",
       .run = run);
