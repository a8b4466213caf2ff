#include "relay.h"

static void run(struct slot *s)
{
    s->ops = s->bytes;
    meet(s);
    PHASE(s, "send") { }
    meet(s);
}

static void run_b(struct slot *s)
{
    s->ops = s->bytes;
    meet(s);
    PHASE(s, "receive") { }
    meet(s);
}

METHOD(relay_null, .experiment = "relay", .name = "null", .role = "null",
       .summary = "Both sides meet and do nothing: the floor of the phases and of how well the two starts coincide.",
       .phases = RELAY_PHASES, .keys = "bytes:size " PIN_KEY, .memory = "0", .laws = "send.minor_faults == 0", .calls = "",
       .run = run, .run_b = run_b);
