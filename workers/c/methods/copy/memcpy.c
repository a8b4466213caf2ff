#include "copy.h"

static void run(struct slot *s)
{
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    COPY_BEFORE(memcpy(to + i * stride, from, bytes))
    PHASE(s, "copy") {
        EACH_COPY(memcpy(to + i * stride, from, bytes))
        c.wrong = wrong;
    }
    copy_end(s, &c);
}

METHOD(copy_memcpy, .experiment = "copy", .name = "memcpy",
       .summary = "The C library's memcpy over the whole block.",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY, .laws = COPY_LAWS, .calls = "", .run = run);
