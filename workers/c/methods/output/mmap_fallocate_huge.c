#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_allocate(&o);
        output_map(&o);
        output_advise(&o, o.map, MADV_HUGEPAGE);
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

METHOD(output_mmap_fallocate_huge, .experiment = "output", .name = "mmap-fallocate-huge",
       .summary = "fallocate(), then the shared mapping with MADV_HUGEPAGE: blocks and huge folios at once.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW,
       .calls = "open:openat size:fallocate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = run);
