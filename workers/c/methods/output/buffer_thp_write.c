#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    need_huge_pages(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_buffer(&o);
        output_advise(&o, o.buffer, MADV_HUGEPAGE);
    }
    output_check(s, &o);
    PHASE(s, "fill") {
        output_copy(&o, o.buffer, 0, o.steps);
        output_put_buffer(&o);
    }
    output_check(s, &o);
    output_huge(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_buffer_thp_write, .experiment = "output", .name = "buffer-thp-write",
       .summary = "The whole file is built in transparent huge pages, then written by one call.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS
               "; huge_bytes + huge_page_bytes > bytes; fill.minor_faults <= bytes / huge_page_bytes + 520",
       .calls = "open:openat size:mmap,madvise fill:pwrite64 finish:munmap,close sync:fsync remove:unlinkat", .run = run);
