#include "output.h"

enum { POPULATE_WRITE = 23 /* MADV_POPULATE_WRITE, Linux 5.14 */, NO_ADVICE = -1 };

/* Bytes of the mapping: those of the old file as it is, of the new one as it is sized, or allocated. */
enum bytes { OLD, SIZED, ALLOCATED };

static SHARED_BODY void run(struct slot *s, enum bytes bytes, int advice)
{
    if (bytes == OLD)
        need_old(s);
    struct output o = output_begin(s);
    PHASE(s, "open") {
        if (bytes == OLD)
            output_open(&o, o.name, 0);
        else
            output_truncate(&o, 0);
    }
    output_check(s, &o);
    PHASE(s, "size") {
        if (bytes == ALLOCATED)
            output_allocate(&o);
        else if (bytes == SIZED)
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

static void plain(struct slot *s) { run(s, SIZED, NO_ADVICE); }
METHOD(output_mmap, .experiment = "output", .name = "mmap",
       .summary = "ftruncate(), a shared mapping, memcpy() into it: what linkers do.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:ftruncate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = plain);

static void huge(struct slot *s) { run(s, SIZED, MADV_HUGEPAGE); }
METHOD(output_mmap_huge, .experiment = "output", .name = "mmap-huge",
       .summary = "The shared mapping with MADV_HUGEPAGE: faults find huge folios of the page cache where the file system has them.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW,
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = huge);

static void populate(struct slot *s) { run(s, SIZED, POPULATE_WRITE); }
METHOD(output_mmap_populate, .experiment = "output", .name = "mmap-populate",
       .summary = "The shared mapping with MADV_POPULATE_WRITE: one call makes all of its pages.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS
               "; 64 * (fill.minor_faults + fill.major_faults) <= bytes / page_bytes",
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = populate);

static void allocated(struct slot *s) { run(s, ALLOCATED, NO_ADVICE); }
METHOD(output_mmap_fallocate, .experiment = "output", .name = "mmap-fallocate",
       .summary = "fallocate() instead of ftruncate(), then the shared mapping.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:fallocate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = allocated);

static void allocated_huge(struct slot *s) { run(s, ALLOCATED, MADV_HUGEPAGE); }
METHOD(output_mmap_fallocate_huge, .experiment = "output", .name = "mmap-fallocate-huge",
       .summary = "fallocate(), then the shared mapping with MADV_HUGEPAGE: blocks and huge folios at once.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW,
       .calls = "open:openat size:fallocate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = allocated_huge);

static void in_place(struct slot *s) { run(s, OLD, NO_ADVICE); }
METHOD(output_in_place_mmap, .experiment = "output", .name = "in-place-mmap",
       .summary = "The old file is mapped and overwritten.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS IN_PLACE_LAWS,
       .calls = "open:openat size:mmap finish:munmap,close sync:fsync remove:unlinkat", .run = in_place);
