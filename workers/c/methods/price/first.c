/* First writes and giving back, once in a fresh process: nothing is recycled before, so that frames come from where a program
 * gets them. Free blocks of the size of a huge page are what a virtual machine's host takes back first. Then the same memory
 * once more, whose frames this process has just given back. */
#include "price.h"

static char *fresh(struct slot *s, int advice)
{
    s->ops = s->bytes / s->page_bytes;
    if (s->bytes % s->page_bytes)
        skip(s, "bytes is not a multiple of the page size");
    fact(s, "footprint_bytes", s->bytes);
    char *p = mmap(free_range(s, s->bytes), s->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    /* EINVAL: a kernel without huge pages, where every page is a base page. */
    check_done(s, madvise(p, s->bytes, advice) != 0 && !(errno == EINVAL && advice == MADV_NOHUGEPAGE), "madvise");
    return p;
}

static void measure(struct slot *s, char *p)
{
    char mark = (char)(s->seed | 1);
    PHASE(s, "first-touch") { write_each(p, s->bytes, s->page_bytes, mark); }
    fact(s, "huge_bytes", resident_in(s, p, s->bytes).huge_bytes);
    PHASE(s, "re-touch") { write_each(p, s->bytes, s->page_bytes, mark); }
    check_done(s, madvise(p, s->bytes, MADV_DONTNEED), "madvise");
    PHASE(s, "refault") { write_each(p, s->bytes, s->page_bytes, mark); }
    int left;
    PHASE(s, "unmap") { left = munmap(p, s->bytes); }
    check_done(s, left, "munmap");
}

static void run_base(struct slot *s)
{
    measure(s, fresh(s, MADV_NOHUGEPAGE));
}

static void run_huge(struct slot *s)
{
    need_huge_pages(s);
    if (s->bytes < s->huge_page_bytes)
        skip(s, "less than one huge page: none can come");
    char *p = fresh(s, MADV_HUGEPAGE);
    fact(s, "granted_faults", expected_faults(s, p, s->bytes, true));
    measure(s, p);
}

METHOD(price_base, .experiment = "price", .name = "base",
       .summary = "What a first write to a base page costs in a fresh process, and giving it back.",
       .phases = "first-touch re-touch refault unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = "first-touch.minor_faults == bytes / page_bytes; re-touch.minor_faults == 0; huge_bytes == 0; "
               "refault.minor_faults == bytes / page_bytes",
       .calls = "unmap:munmap", .run = run_base);

METHOD(price_huge, .experiment = "price", .name = "huge",
       .summary = "What a first write to a transparent huge page costs in a fresh process, and giving it back.",
       .phases = "first-touch re-touch refault unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = "first-touch.minor_faults == granted_faults; re-touch.minor_faults == 0; refault.minor_faults == granted_faults; "
               "huge_bytes == bytes / huge_page_bytes * huge_page_bytes",
       .calls = "unmap:munmap", .run = run_huge);
