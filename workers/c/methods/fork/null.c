#include "fork.h"

static void run(struct slot *s)
{
    PHASE(s, "start") { }
    PHASE(s, "reap") { }
    PHASE(s, "write") { }
}

METHOD(fork_null, .experiment = "fork", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = FORK_PHASES,
       .keys = "bytes:size", .memory = "0", .laws = "write.minor_faults == 0", .calls = "", .run = run);
