#include "selftest.h"

static void run(struct slot *s)
{
    uint64_t steps = (STEPS_PER_BATCH + key_size(s, "extra_permille")) * key_size(s, "batch"), state = s->seed;
    s->ops = steps;
    PHASE(s, "work") { state = take_steps(state, steps); }
    fact(s, "arrived", state == after_steps(s->seed, steps));
}

METHOD(selftest_steps_extra, .experiment = "selftest", .name = "steps-extra",
       .summary = "The same loop with exactly `extra_permille` thousandths more steps: an effect whose size is known.",
       .phases = "work", .keys = "batch:count pair:count extra_permille:count", .memory = "0",
       .laws = "work.ops == (1000 + extra_permille) * batch; arrived == 1; work.minor_faults == 0", .calls = "",
       .run = run);
