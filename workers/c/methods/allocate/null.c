#include "allocate.h"

static void run(struct slot *s)
{
    s->ops = s->bytes;
    PHASE(s, "allocate") { }
    PHASE(s, "fill") { }
    PHASE(s, "refill") { }
    PHASE(s, "free") { }
}

METHOD(allocate_null, .experiment = "allocate", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = ALLOCATE_PHASES, .keys = "bytes:size", .memory = "0", .isolation = "fresh",
       .laws = "fill.minor_faults == 0", .calls = "", .run = run);
