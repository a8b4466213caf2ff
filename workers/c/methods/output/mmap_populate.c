#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_size(&o);
        output_map(&o);
        output_advise(&o, o.map, 23); /* MADV_POPULATE_WRITE, Linux 5.14 */
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

METHOD(output_mmap_populate, .experiment = "output", .name = "mmap-populate",
       .summary = "The shared mapping with MADV_POPULATE_WRITE: one call makes all of its pages.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS
               "; 64 * (fill.minor_faults + fill.major_faults) <= bytes / page_bytes",
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = run);
