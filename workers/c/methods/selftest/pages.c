#include "touch.h"

static void run(struct slot *s)
{
    size_t page = s->page_bytes;
    uint64_t pieces = key_size(s, "pieces");
    s->ops = pieces;
    char *p = page_to_touch(s);
    PHASE(s, "work") { touch_and_give_back(p, page, pieces); }
    munmap(p, page);
}

METHOD(selftest_pages, .experiment = "selftest", .name = "pages", .group = "memory",
       .summary = "Touch a page and give it back, so many times: work that the kernel does, noisy in the way that memory is.",
       .phases = "work", .keys = "pieces:count pair:count", .memory = "page_bytes",
       .laws = "work.minor_faults == pieces", .calls = "work:madvise", .run = run);
