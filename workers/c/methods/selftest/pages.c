#include "touch.h"

/* Work that the kernel does, noisy in the way that memory is. */
static void run(struct slot *s)
{
    size_t bytes = s->bytes, page = s->page_bytes;
    s->ops = bytes / page;
    char *p = fresh_pages(s, bytes);
    PHASE(s, "work") { touch_each_page(p, bytes, page); }
    munmap(p, bytes);
}

METHOD(selftest_pages, .experiment = "selftest", .name = "pages", .group = "memory",
       .summary = "Touch each page of a fresh anonymous mapping: identical cells of it show what the kernel's noise does.",
       .phases = "work", .keys = "bytes:size pair:count", .memory = "bytes",
       .laws = "work.minor_faults == bytes / page_bytes", .calls = "", .run = run);
