#include "ring.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    struct output_ring ring;
    direct_possible(s, &o);
    output_ring_possible(s);
    PHASE(s, "open") {
        output_truncate(&o, O_DIRECT);
        output_ring_open(&o, &ring);
    }
    output_check(s, &o);
    PHASE(s, "size") { output_allocate(&o); }
    output_check(s, &o);
    PHASE(s, "fill") { output_ring_write(&o, &ring); }
    output_check(s, &o);
    PHASE(s, "finish") {
        output_ring_close(&ring);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_io_uring_direct, .experiment = "output", .name = "io_uring-direct",
       .summary = "fallocate(), then O_DIRECT writes by io_uring, eight at once.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS "; dirty_bytes == 0",
       .calls = "open:openat,io_uring_setup,mmap size:fallocate fill:io_uring_enter finish:munmap,close sync:fsync remove:unlinkat",
       .run = run);
