#include "unmap.h"

static void run(struct slot *s)
{
    PHASE(s, "take-away") { }
    PHASE(s, "others-owe") { }
}

METHOD(unmap_null, .experiment = "unmap", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = UNMAP_PHASES,
       .keys = "bytes:size", .memory = "0", .laws = "take-away.minor_faults == 0", .calls = "", .run = run);
