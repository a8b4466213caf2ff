#include "output.h"

static void run(struct slot *s)
{
    need_old(s);
    struct output o = output_begin(s);
    PHASE(s, "open") { output_open(&o, o.name, 0); }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") { output_pwrite(&o, 0, o.steps); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_in_place_pwrite, .experiment = "output", .name = "in-place-pwrite",
       .summary = "The old file is overwritten by pwrite(), not truncated: its pages and blocks stay. A reader sees half of each meanwhile.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS IN_PLACE_LAWS,
       .calls = "open:openat fill:pwrite64 finish:close sync:fsync remove:unlinkat", .run = run);
