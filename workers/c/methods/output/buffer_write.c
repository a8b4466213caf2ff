#include "output.h"

/* In large calls from the first byte to the last. */
static void write_buffer(struct output *o)
{
    output_put(o, o->buffer, o->bytes, 0);
}

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { output_buffer(&o); }
    output_check(s, &o);
    PHASE(s, "fill") {
        output_copy(&o, o.buffer, 0, o.steps);
        write_buffer(&o);
    }
    output_check(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_buffer_write, .experiment = "output", .name = "buffer-write",
       .summary = "The whole file is built in anonymous memory, then written by one call.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS
               "; fill.minor_faults <= bytes / page_bytes + 8",
       .calls = "open:openat size:mmap fill:pwrite64 finish:munmap,close sync:fsync remove:unlinkat", .run = run);
