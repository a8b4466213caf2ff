#include "copy.h"

/* Each thread copies its own part of the block, as often as the sample asks. */
static struct copy c;

static void copy_part(const struct part *part)
{
    char *from = c.from + (part->start - c.to), *to = part->start;
    size_t bytes = part->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    if (!bytes)
        return;
    EACH_COPY(memcpy(to + i * stride, from, bytes))
    if (wrong)
        c.wrong = 1;
}

static void run(struct slot *s)
{
    if (s->bytes < s->threads * s->page_bytes)
        skip(s, "there is less than a page for each thread");
    c = copy_begin(s);
    PARALLEL_PHASE(s, "copy") { on_every_thread(s, copy_part, c.to, s->bytes, 0); }
    copy_end(s, &c);
}

METHOD(copy_memcpy_threads, .experiment = "copy", .name = "memcpy-threads",
       .summary = "memcpy by several threads, each over its own contiguous part of the block.",
       .phases = "copy", .keys = COPY_KEYS " threads:count", .memory = COPY_MEMORY, .laws = COPY_LAWS "; " THREADS_LAWS,
       .calls = "", .run = run);
