#include "load.h"

static void run(struct slot *s)
{
    PHASE(s, "open") { }
    PHASE(s, "bring") { }
    PHASE(s, "answer") { }
    PHASE(s, "first-use") { }
    PHASE(s, "second-use") { }
    PHASE(s, "drop") { }
}

METHOD(load_null, .experiment = "load", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = LOAD_PHASES,
       .keys = "bytes:size", .memory = "0", .laws = "first-use.minor_faults == 0", .calls = "", .run = run);
