#include "output.h"
#include "ring.h"

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    struct steps_ring ring;
    struct steps steps = {.writes = true, .memory = (char *)o.source, .at = o.at, .bytes = o.bytes, .step = o.step,
                          .depth = DIRECT_DEPTH};
    file_on_device(s, o.folder);
    steps_ring_possible(s);
    PHASE(s, "open") {
        output_truncate(&o, O_DIRECT);
        steps.file = o.file;
        steps_ring_open(&steps, &ring);
    }
    errno = steps.error;
    if (steps.failed)
        output_lost(&o, steps.failed);
    output_check(s, &o);
    PHASE(s, "size") { output_allocate(&o); }
    output_check(s, &o);
    PHASE(s, "fill") { steps_ring_pass(&steps, &ring, 0, o.steps); }
    errno = steps.error;
    if (steps.failed)
        output_lost(&o, steps.failed);
    output_check(s, &o);
    PHASE(s, "finish") {
        steps_ring_close(&steps, &ring);
        errno = steps.error;
        if (steps.failed)
            output_lost(&o, steps.failed);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_io_uring_direct, .experiment = "output", .name = "io_uring-direct",
       .summary = "fallocate(), then O_DIRECT writes by io_uring, eight at once.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = DIRECT_LAWS,
       .calls = "open:openat,io_uring_setup,mmap size:fallocate fill:io_uring_enter finish:munmap,close sync:fsync remove:unlinkat",
       .run = run);
