#include "message.h"

static void run(struct slot *s)
{
    s->ops = key_size(s, "ops");
    PHASE(s, "round-trips") { }
    PHASE(s, "timed-trips") { }
}

METHOD(message_null, .experiment = "message", .name = "null", .role = "null",
       .summary = "Both phases with an empty body: the floor below which nothing is resolved.", .phases = MESSAGE_PHASES,
       .keys = "bytes:size ops:count", .memory = "0", .laws = "round-trips.minor_faults == 0", .calls = "",
       .run = run, .run_b = run);
