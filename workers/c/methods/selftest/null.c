#include "selftest.h"

static void run(struct slot *s)
{
    PHASE(s, "work") { }
}

METHOD(selftest_null, .experiment = "selftest", .name = "null", .role = "null",
       .summary = "An empty body: the floor below which nothing is resolved.",
       .phases = "work", .keys = "pair:count", .memory = "0", .laws = "work.minor_faults == 0", .calls = "", .run = run);
