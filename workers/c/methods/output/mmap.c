#include "output.h"

enum { POPULATE_WRITE = 23 /* MADV_POPULATE_WRITE, Linux 5.14 */, NO_ADVICE = -1 };

static SHARED_BODY void run(struct slot *s, bool allocates, int advice)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        if (allocates)
            output_allocate(&o);
        else
            output_size(&o);
        output_map(&o);
        if (advice != NO_ADVICE)
            output_advise(&o, o.map, advice);
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

static void plain(struct slot *s) { run(s, false, NO_ADVICE); }
METHOD(output_mmap, .experiment = "output", .name = "mmap",
       .summary = "ftruncate(), a shared mapping, memcpy() into it: what linkers do.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:ftruncate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = plain);

static void huge(struct slot *s) { run(s, false, MADV_HUGEPAGE); }
METHOD(output_mmap_huge, .experiment = "output", .name = "mmap-huge",
       .summary = "The shared mapping with MADV_HUGEPAGE: faults find huge folios of the page cache where the file system has them.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW,
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = huge);

static void populate(struct slot *s) { run(s, false, POPULATE_WRITE); }
METHOD(output_mmap_populate, .experiment = "output", .name = "mmap-populate",
       .summary = "The shared mapping with MADV_POPULATE_WRITE: one call makes all of its pages.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS
               "; 64 * (fill.minor_faults + fill.major_faults) <= bytes / page_bytes",
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = populate);

static void allocated(struct slot *s) { run(s, true, NO_ADVICE); }
METHOD(output_mmap_fallocate, .experiment = "output", .name = "mmap-fallocate",
       .summary = "fallocate() instead of ftruncate(), then the shared mapping.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:fallocate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = allocated);

static void allocated_huge(struct slot *s) { run(s, true, MADV_HUGEPAGE); }
METHOD(output_mmap_fallocate_huge, .experiment = "output", .name = "mmap-fallocate-huge",
       .summary = "fallocate(), then the shared mapping with MADV_HUGEPAGE: blocks and huge folios at once.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW,
       .calls = "open:openat size:fallocate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = allocated_huge);
