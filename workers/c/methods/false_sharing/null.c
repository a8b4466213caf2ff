#include "worker.h"

static void run(struct slot *s)
{
    s->ops = key_size(s, "ops");
    PHASE(s, "stores") { }
}

METHOD(false_sharing_null, .experiment = "false-sharing", .name = "null", .role = "null",
       .summary = "The phase with an empty body: the floor below which nothing is resolved.", .phases = "stores",
       .keys = "ops:count", .memory = "0", .laws = "stores.minor_faults == 0", .calls = "", .run = run);
