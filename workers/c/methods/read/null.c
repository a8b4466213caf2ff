#include "read.h"

static void run(struct slot *s)
{
    s->ops = s->bytes;
    PHASE(s, "open") { }
    PHASE(s, "read") { }
    PHASE(s, "close") { }
}

METHOD(read_null, .experiment = "read", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = READ_PHASES, .keys = "bytes:size", .memory = "0", .laws = "read.minor_faults == 0", .calls = "", .run = run);
