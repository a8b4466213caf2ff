#include "selftest.h"

static SHARED_BODY void run(struct slot *s, uint64_t extra_permille)
{
    uint64_t steps = (STEPS_PER_BATCH + extra_permille) * key_size(s, "batch"), state = s->seed;
    s->ops = steps;
    PHASE(s, "work") { state = take_steps(state, steps); }
    fact(s, "arrived", state == after_steps(s->seed, steps));
}

static void plain(struct slot *s) { run(s, 0); }
METHOD(selftest_steps, .experiment = "selftest", .name = "steps",
       .summary = "1000 steps of a pure loop for each unit of `batch`; the result proves their number.",
       .phases = "work", .keys = "batch:count pair:count", .memory = "0",
       .laws = "work.ops == 1000 * batch; arrived == 1; work.minor_faults == 0", .calls = "", .run = plain);

static void extra(struct slot *s) { run(s, key_size(s, "extra_permille")); }
METHOD(selftest_steps_extra, .experiment = "selftest", .name = "steps-extra",
       .summary = "The same loop with exactly `extra_permille` thousandths more steps: an effect whose size is known.",
       .phases = "work", .keys = "batch:count pair:count extra_permille:count", .memory = "0",
       .laws = "work.ops == (1000 + extra_permille) * batch; arrived == 1; work.minor_faults == 0", .calls = "",
       .run = extra);
