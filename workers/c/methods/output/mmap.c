#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_size(&o);
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

METHOD(output_mmap, .experiment = "output", .name = "mmap",
       .summary = "ftruncate(), a shared mapping, memcpy() into it: what linkers do.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:ftruncate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = run);
