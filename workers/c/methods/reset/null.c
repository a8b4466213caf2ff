#include "reset.h"

static void run(struct slot *s)
{
    PHASE(s, "use") { }
    PHASE(s, "reset") { }
    PHASE(s, "others-owe") { }
}

METHOD(reset_null, .experiment = "reset", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = RESET_PHASES,
       .keys = "bytes:size", .memory = "0", .laws = "reset.minor_faults == 0", .calls = "", .run = run);
