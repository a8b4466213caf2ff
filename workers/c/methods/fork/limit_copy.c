#include "fork.h"

enum { RING = 16 }; /* pages that are copied to, in turn */

/* The least this machine can take: a page copied for each byte written, to pages that are there, without any fault. */
static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    size_t bytes = parent.bytes, stride = parent.stride, page = s->page_bytes;
    char *to = mmap(NULL, RING * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, to);
    memset(to, parent.mark + 1, RING * page);
    s->ops = bytes / stride;
    PHASE(s, "write") {
        for (size_t i = 0, n = 0; i < bytes; i += stride, n++)
            memcpy(to + n % RING * page, parent.p + i, page);
    }
    size_t copies = 0, expected = s->ops < RING ? s->ops : RING;
    for (size_t n = 0; n < RING; n++)
        copies += to[n * page] == parent.mark;
    fact(s, "lost_copies", expected - copies);
    munmap(to, RING * page);
    parent_end(s, &parent, parent.mark);
}

METHOD(fork_limit_copy, .experiment = "fork", .name = "limit-copy", .role = "limit", .group = COPY_GROUP,
       .summary = "Copy one page for each byte written, between pages that are there: no copy on write can cost less.",
       .phases = "write", .keys = COPY_KEYS, .memory = "bytes",
       .laws = PARENT_LAWS "; write.minor_faults == 0; lost_copies == 0", .calls = "", .run = run);
