#include "output.h"

static struct output o;

static void copy_part(const struct part *part)
{
    output_copy(&o, o.buffer, part_from(&o, part), part_to(&o, part));
}

static void run(struct slot *s)
{
    o = output_begin(s);
    forbid_huge_pages(s, true);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { output_buffer(&o); }
    output_check(s, &o);
    PARALLEL_PHASE(s, "fill") {
        on_every_thread(s, copy_part, NULL, o.bytes, 0);
        output_put_buffer(&o);
    }
    output_check(s, &o);
    PHASE(s, "finish") {
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_buffer_threads_write, .experiment = "output", .name = "buffer-threads-write",
       .summary = "The whole file is built in anonymous memory by several threads, then written by one call.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS THREADS_OPTION,
       .memory = OUTPUT_MEMORY, .laws = BUILT_LAWS "; " THREADS_LAWS,
       .calls = "open:openat size:mmap fill:pwrite64 finish:munmap,close sync:fsync remove:unlinkat", .run = run);
