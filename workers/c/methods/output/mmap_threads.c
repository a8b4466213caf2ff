#include "output.h"

static struct output o;

static void copy_part(const struct part *part)
{
    output_copy(&o, o.map, part_from(&o, part), part_to(&o, part));
}

static SHARED_BODY void run(struct slot *s, bool allocates, bool huge)
{
    o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        if (allocates)
            output_allocate(&o);
        else
            output_size(&o);
        output_map(&o);
        if (huge)
            output_advise(&o, o.map, MADV_HUGEPAGE);
    }
    output_check(s, &o);
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, copy_part, NULL, o.bytes, 0); }
    output_check(s, &o);
    output_huge(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

static void plain(struct slot *s) { run(s, false, false); }
METHOD(output_mmap_threads, .experiment = "output", .name = "mmap-threads",
       .summary = "The shared mapping, filled by several threads.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS THREADS_OPTION, .memory = OUTPUT_MEMORY,
       .laws = MAPPED_LAWS "; " THREADS_LAWS,
       .calls = "open:openat size:ftruncate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = plain);

static void huge(struct slot *s) { run(s, false, true); }
METHOD(output_mmap_huge_threads, .experiment = "output", .name = "mmap-huge-threads",
       .summary = "The shared mapping with MADV_HUGEPAGE, filled by several threads.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS THREADS_OPTION,
       .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS HUGE_FILE_LAW "; " THREADS_LAWS,
       .calls = "open:openat size:ftruncate,mmap,madvise finish:munmap,close sync:fsync remove:unlinkat", .run = huge);

static void allocated(struct slot *s) { run(s, true, false); }
METHOD(output_mmap_fallocate_threads, .experiment = "output", .name = "mmap-fallocate-threads",
       .summary = "fallocate(), then the shared mapping, filled by several threads.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS THREADS_OPTION, .memory = OUTPUT_MEMORY,
       .laws = MAPPED_LAWS "; " THREADS_LAWS,
       .calls = "open:openat size:fallocate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = allocated);
