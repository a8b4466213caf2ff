#include "output.h"

static void run(struct slot *s)
{
    PHASE(s, "open") { }
    PHASE(s, "size") { }
    PHASE(s, "fill") { }
    PHASE(s, "finish") { }
    PHASE(s, "sync") { }
    PHASE(s, "remove") { }
}

METHOD(output_null, .experiment = "output", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = OUTPUT_PHASES,
       .keys = "bytes:size", .memory = "0", .laws = "fill.minor_faults == 0", .calls = "", .run = run);
