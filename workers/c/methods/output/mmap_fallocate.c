#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_allocate(&o);
        output_map(&o);
    }
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

METHOD(output_mmap_fallocate, .experiment = "output", .name = "mmap-fallocate",
       .summary = "fallocate() instead of ftruncate(), then the shared mapping.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:fallocate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = run);
