#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { output_allocate(&o); }
    output_check(s, &o);
    PHASE(s, "fill") { output_pwrite(&o, 0, o.steps); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_write_fallocate, .experiment = "output", .name = "write-fallocate",
       .summary = "fallocate(), then pwrite(): the blocks are chosen at once.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat size:fallocate fill:pwrite64 finish:close sync:fsync remove:unlinkat", .run = run);
