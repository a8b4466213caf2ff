#include "touch.h"

static SHARED_BODY void run(struct slot *s, uint64_t extra_permille)
{
    size_t page = s->page_bytes;
    uint64_t pieces = key_size(s, "pieces");
    pieces += pieces * extra_permille / 1000;
    s->ops = pieces;
    char *p = page_to_touch(s);
    PHASE(s, "work") { touch_and_give_back(p, page, pieces); }
    munmap(p, page);
}

static void plain(struct slot *s) { run(s, 0); }
METHOD(selftest_pages, .experiment = "selftest", .name = "pages", .group = "memory",
       .summary = "Touch a page and give it back, so many times: work that the kernel does, noisy in the way that memory is.",
       .phases = "work", .keys = "pieces:count pair:count", .memory = "page_bytes",
       .laws = "work.minor_faults == pieces", .calls = "work:madvise", .run = plain);

static void extra(struct slot *s) { run(s, key_size(s, "extra_permille")); }
METHOD(selftest_pages_extra, .experiment = "selftest", .name = "pages-extra", .group = "memory",
       .summary = "The same with exactly `extra_permille` thousandths more pieces: a known effect among the kernel's noise.",
       .phases = "work", .keys = "pieces:count pair:count extra_permille:count", .memory = "page_bytes",
       .laws = "work.minor_faults == pieces + pieces * extra_permille / 1000", .calls = "work:madvise",
       .run = extra);
