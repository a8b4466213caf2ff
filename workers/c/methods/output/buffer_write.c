#include "output.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    forbid_huge_pages(s, true);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { output_buffer(&o); }
    output_check(s, &o);
    PHASE(s, "fill") {
        output_copy(&o, o.buffer, 0, o.steps);
        output_put_buffer(&o);
    }
    output_check(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_buffer_write, .experiment = "output", .name = "buffer-write",
       .summary = "The whole file is built in anonymous memory, in base pages, then written by one call.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = BUILT_LAWS,
       .calls = "open:openat size:mmap fill:pwrite64 finish:munmap,close sync:fsync remove:unlinkat", .run = run);
