#include "touch.h"

static void run(struct slot *s)
{
    size_t page = s->page_bytes, pages = s->bytes / page;
    size_t bytes = (pages + pages * key_size(s, "extra_permille") / 1000) * page;
    s->ops = bytes / page;
    s->phase_bytes = bytes;
    char *p = fresh_pages(s, bytes);
    PHASE(s, "work") { touch_each_page(p, bytes, page); }
    munmap(p, bytes);
}

METHOD(selftest_pages_extra, .experiment = "selftest", .name = "pages-extra", .group = "memory",
       .summary = "The same with exactly `extra_permille` thousandths more pages: a known effect among the kernel's noise.",
       .phases = "work", .keys = "bytes:size pair:count extra_permille:count", .memory = "2 * bytes",
       .laws = "work.minor_faults == bytes / page_bytes + bytes / page_bytes * extra_permille / 1000", .calls = "",
       .run = run);
