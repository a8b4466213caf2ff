#include "output.h"
#include <stdio.h>

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_open(&o, o.fresh, O_CREAT | O_EXCL); }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") { output_pwrite(&o, 0, o.steps); }
    output_check(s, &o);
    PHASE(s, "finish") {
        output_close(&o);
        if (renameat(o.folder, o.fresh, o.folder, o.name) != 0)
            output_lost(&o, "renameat");
    }
    output_end(s, &o);
}

METHOD(output_rename, .experiment = "output", .name = "rename",
       .summary = "A new file beside the old one takes its name when it is whole: no reader sees half of it.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:pwrite64 finish:close,renameat sync:fsync remove:unlinkat", .run = run);
