#include "share.h"

static void run(struct slot *s)
{
    PHASE(s, "map") { }
    s->ops = s->bytes / s->page_bytes;
    PHASE(s, "first-touch") { }
    s->ops = key_size(s, "ops");
    PHASE(s, "random-write") { }
    PHASE(s, "index-only") { }
    s->ops = key_size(s, "clear_bytes") / s->bytes;
    PHASE(s, "clear") { }
    s->ops = key_size(s, "ops");
    PHASE(s, "random-read") { }
    s->ops = 1;
    PHASE(s, "unmap") { }
}

METHOD(share_null, .experiment = "share", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.",
       .phases = SHARE_FIRST_PHASES SHARE_LOOP_PHASES, .keys = "bytes:size ops:count clear_bytes:size", .memory = "0",
       .laws = "first-touch.minor_faults == 0",
       .calls = "", .run = run);
