#include "copy.h"

static void run(struct slot *s)
{
    s->ops = s->bytes;
    PHASE(s, "copy") { }
}

METHOD(copy_null, .experiment = "copy", .name = "null", .role = "null",
       .summary = "The phase with an empty body: the floor below which nothing is resolved.",
       .phases = "copy", .keys = "bytes:size", .memory = "0", .laws = "copy.minor_faults == 0", .calls = "", .run = run);
