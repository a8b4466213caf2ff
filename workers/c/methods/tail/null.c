#include "tail.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    TAIL_TRIAL(&t, );
    PHASE(s, "each") { TAIL_LOOP(&t, ); }
    tail_end(s, &t);
}

METHOD(tail_null, .experiment = "tail", .name = "null", .role = "null",
       .summary = "No operation at all, timed as the others: the clock, and what takes the CPU away from an idle loop.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "8 * ops", .laws = TAIL_LAWS,
       .calls = "each:getrusage?", .run = run);
