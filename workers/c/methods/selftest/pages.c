#include "selftest.h"

/* Work that the kernel does, noisy in the way that memory is: one fault for each page of a fresh mapping. */
static void run(struct slot *s)
{
    size_t bytes = s->bytes, page = s->page_bytes;
    s->ops = bytes / page;
    volatile char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, (char *)p);
    madvise((char *)p, bytes, MADV_NOHUGEPAGE);
    PHASE(s, "work") {
        for (size_t i = 0; i < bytes; i += page)
            p[i] = 1;
    }
    munmap((char *)p, bytes);
}

METHOD(selftest_pages, .experiment = "selftest", .name = "pages", .group = "memory",
       .summary = "Touch each page of a fresh anonymous mapping: identical cells of it show what the kernel's noise does.",
       .phases = "work", .keys = "bytes:size pair:count", .memory = "bytes",
       .laws = "work.minor_faults == bytes / page_bytes", .calls = "", .run = run);
