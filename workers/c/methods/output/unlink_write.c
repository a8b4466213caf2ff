#include "output.h"

static void run(struct slot *s)
{
    need_old(s);
    struct output o = output_begin(s);
    PHASE(s, "open") {
        if (unlinkat(o.folder, o.name, 0) != 0)
            output_lost(&o, "unlinkat");
        output_open(&o, o.name, O_CREAT | O_EXCL);
    }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") { output_pwrite(&o, 0, o.steps); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_unlink_write, .experiment = "output", .name = "unlink-write",
       .summary = "The old file is removed first, then a new one is written.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:unlinkat,openat fill:pwrite64 finish:close sync:fsync remove:unlinkat", .run = run);
