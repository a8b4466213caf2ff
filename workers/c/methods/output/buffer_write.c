#include "output.h"

static SHARED_BODY void run(struct slot *s, bool huge)
{
    struct output o = output_begin(s);
    if (huge)
        need_huge_pages(s);
    else
        forbid_huge_pages(s, true);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_buffer(&o);
        if (huge)
            output_advise(&o, o.buffer, MADV_HUGEPAGE);
    }
    output_check(s, &o);
    PHASE(s, "fill") {
        output_copy(&o, o.buffer, 0, o.steps);
        output_put_buffer(&o);
    }
    output_check(s, &o);
    if (huge)
        output_huge(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

static void base_pages(struct slot *s) { run(s, false); }
METHOD(output_buffer_write, .experiment = "output", .name = "buffer-write",
       .summary = "The whole file is built in anonymous memory, in base pages, then written by one call.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = BUILT_LAWS,
       .calls = "open:openat size:mmap fill:pwrite64 finish:munmap,close sync:fsync remove:unlinkat", .run = base_pages);

static void huge_pages(struct slot *s) { run(s, true); }
METHOD(output_buffer_thp_write, .experiment = "output", .name = "buffer-thp-write",
       .summary = "The whole file is built in transparent huge pages, then written by one call.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS
               "; huge_bytes + huge_page_bytes > bytes; fill.minor_faults <= bytes / huge_page_bytes + 520",
       .calls = "open:openat size:mmap,madvise fill:pwrite64 finish:munmap,close sync:fsync remove:unlinkat", .run = huge_pages);
