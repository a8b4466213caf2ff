#include "selftest.h"

static void run(struct slot *s)
{
    uint64_t steps = STEPS_PER_BATCH * key_size(s, "batch"), state = s->seed;
    s->ops = steps;
    PHASE(s, "work") { state = take_steps(state, steps); }
    fact(s, "arrived", state == after_steps(s->seed, steps));
}

METHOD(selftest_steps, .experiment = "selftest", .name = "steps",
       .summary = "1000 steps of a pure loop for each unit of `batch`; the result proves their number.",
       .phases = "work", .keys = "batch:count pair:count", .memory = "0",
       .laws = "work.ops == 1000 * batch; arrived == 1; work.minor_faults == 0", .calls = "", .run = run);
