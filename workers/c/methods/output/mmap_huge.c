#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_size(&o);
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

METHOD(output_mmap_huge, .experiment = "output", .name = "mmap-huge",
       .summary = "The shared mapping with MADV_HUGEPAGE: faults find huge folios of the page cache where the file system has them.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW,
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = run);
