#include "touch.h"

static void run(struct slot *s)
{
    size_t page = s->page_bytes;
    uint64_t pieces = key_size(s, "pieces");
    s->ops = pieces;
    char *at = free_range(s, page);
    PHASE(s, "work") { map_touch_unmap(at, page, pieces); }
}

METHOD(selftest_pages, .experiment = "selftest", .name = "pages", .group = "memory",
       .summary = "Map a page, touch it and unmap it, so many times: work that the kernel does, noisy in the way that memory is.",
       .phases = "work", .keys = "pieces:count pair:count", .memory = "page_bytes",
       .laws = "work.minor_faults == pieces", .calls = "work:mmap work:munmap", .run = run);
