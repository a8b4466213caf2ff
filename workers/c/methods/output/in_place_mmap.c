#include "output.h"

static void run(struct slot *s)
{
    need_old(s);
    struct output o = output_begin(s);
    PHASE(s, "open") { output_open(&o, o.name, 0); }
    output_check(s, &o);
    PHASE(s, "size") { output_map(&o); }
    output_check(s, &o);
    PHASE(s, "fill") { output_copy(&o, o.map, 0, o.steps); }
    output_check(s, &o);
    output_huge(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_in_place_mmap, .experiment = "output", .name = "in-place-mmap",
       .summary = "The old file is mapped and overwritten.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS IN_PLACE_LAWS,
       .calls = "open:openat size:mmap finish:munmap,close sync:fsync remove:unlinkat", .run = run);
