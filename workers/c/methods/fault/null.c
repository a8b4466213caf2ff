#include "fault.h"

static void run(struct slot *s)
{
    s->ops = s->bytes / s->page_bytes;
    PHASE(s, "map") { }
    PHASE(s, "advise") { }
    PARALLEL_PHASE(s, "first-touch") { }
    PARALLEL_PHASE(s, "re-touch") { }
    PHASE(s, "release") { }
    PARALLEL_PHASE(s, "refault") { }
    PHASE(s, "unmap") { }
}

METHOD(fault_null, .experiment = "fault", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = FAULT_PHASES, .keys = "bytes:size", .memory = "0", .laws = "first-touch.minor_faults == 0", .calls = "",
       .run = run);
