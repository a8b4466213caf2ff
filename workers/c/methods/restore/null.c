#include "restore.h"

static void run(struct slot *s)
{
    PHASE(s, "map") { }
    PHASE(s, "first") { }
    PHASE(s, "work") { }
    PHASE(s, "rest") { }
    PHASE(s, "end") { }
}

METHOD(restore_null, .experiment = "restore", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = RESTORE_PHASES,
       .keys = "bytes:size", .memory = "0", .laws = "work.minor_faults == 0", .calls = "", .run = run);
