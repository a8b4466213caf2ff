#include "copy.h"
#include "streaming.h"

static void run(struct slot *s)
{
    if (!can_stream())
        skip(s, "streaming stores are written for x86-64 with AVX and for aarch64; this processor is neither");
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    COPY_BEFORE(stream_copy(to + i * stride, from, bytes))
    PHASE(s, "copy") {
        EACH_COPY(stream_copy(to + i * stride, from, bytes))
        c.wrong = wrong;
    }
    copy_end(s, &c);
}

METHOD(copy_streaming, .experiment = "copy", .name = "streaming",
       .summary = "Streaming (non-temporal) stores: the destination's lines are not read first and do not stay in the caches.",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY, .laws = COPY_LAWS, .calls = "", .run = run);
