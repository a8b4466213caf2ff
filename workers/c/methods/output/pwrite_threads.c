#include "output.h"

static struct output o;

static void write_part(const struct part *part)
{
    output_pwrite(&o, part_from(&o, part), part_to(&o, part));
}

static void run(struct slot *s)
{
    o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, write_part, NULL, o.bytes, 0); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_pwrite_threads, .experiment = "output", .name = "pwrite-threads",
       .summary = "pwrite() by several threads, each of its own part of the pieces.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS THREADS_OPTION, .memory = OUTPUT_MEMORY,
       .laws = WRITTEN_LAWS "; " THREADS_LAWS,
       .calls = "open:openat fill:pwrite64 finish:close sync:fsync remove:unlinkat", .run = run);
