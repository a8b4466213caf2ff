#include "prefault.h"

static void run(struct slot *s)
{
    s->ops = s->bytes;
    PARALLEL_PHASE(s, "populate") { }
    PARALLEL_PHASE(s, "pin") { }
    PARALLEL_PHASE(s, "first-use") { }
    PHASE(s, "teardown") { }
    if (s->proofs) {
        PHASE(s, "exit") { }
    }
}

METHOD(prefault_null, .experiment = "prefault", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = PREFAULT_PHASES, .keys = "bytes:size", .memory = "0", .laws = "populate.minor_faults == 0", .calls = "",
       .run = run);
