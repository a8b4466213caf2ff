#include "heap.h"

static void run(struct slot *s)
{
    PHASE(s, "build") { }
    PHASE(s, "churn") { }
    PHASE(s, "hand-over") { }
    PHASE(s, "free-most") { }
    PHASE(s, "free-rest") { }
    PHASE(s, "grow") { }
}

METHOD(heap_null, .experiment = "heap", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = HEAP_PHASES, .keys = "bytes:size", .memory = "0", .laws = "build.minor_faults == 0", .calls = "", .run = run);
