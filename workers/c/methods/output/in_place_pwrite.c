#include "output.h"

/* The old file is there, and is overwritten or removed first. */
static SHARED_BODY void run(struct slot *s, bool removes)
{
    need_old(s);
    struct output o = output_begin(s);
    PHASE(s, "open") {
        if (removes && unlinkat(o.folder, o.name, 0) != 0)
            output_lost(&o, "unlinkat");
        output_open(&o, o.name, removes ? O_CREAT | O_EXCL : 0);
    }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") { output_pwrite(&o, 0, o.steps); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

static void in_place(struct slot *s) { run(s, false); }
METHOD(output_in_place_pwrite, .experiment = "output", .name = "in-place-pwrite",
       .summary = "The old file is overwritten by pwrite(), not truncated: its pages and blocks stay. A reader sees half of each meanwhile.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS IN_PLACE_LAWS,
       .calls = "open:openat fill:pwrite64 finish:close sync:fsync remove:unlinkat", .run = in_place);

static void removed(struct slot *s) { run(s, true); }
METHOD(output_unlink_write, .experiment = "output", .name = "unlink-write",
       .summary = "The old file is removed first, then a new one is written.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:unlinkat,openat fill:pwrite64 finish:close sync:fsync remove:unlinkat", .run = removed);
