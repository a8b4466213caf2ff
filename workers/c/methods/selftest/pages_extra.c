#include "touch.h"

static void run(struct slot *s)
{
    size_t page = s->page_bytes;
    uint64_t pieces = key_size(s, "pieces");
    pieces += pieces * key_size(s, "extra_permille") / 1000;
    s->ops = pieces;
    char *p = page_to_touch(s);
    PHASE(s, "work") { touch_and_give_back(p, page, pieces); }
    munmap(p, page);
}

METHOD(selftest_pages_extra, .experiment = "selftest", .name = "pages-extra", .group = "memory",
       .summary = "The same with exactly `extra_permille` thousandths more pieces: a known effect among the kernel's noise.",
       .phases = "work", .keys = "pieces:count pair:count extra_permille:count", .memory = "page_bytes",
       .laws = "work.minor_faults == pieces + pieces * extra_permille / 1000", .calls = "work:madvise",
       .run = run);
