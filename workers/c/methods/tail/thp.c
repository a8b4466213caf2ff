#include "pages.h"

static void run(struct slot *s)
{
    need_huge_pages(s);
    struct tail t = tail_begin(s);
    char *p = fresh_pages(s, &t);
    check_huge_advice(s, advise_pages(s, &t, p, MADV_HUGEPAGE));
    write_pages(s, &t, p);
}

METHOD(tail_thp, .experiment = "tail", .name = "thp",
       .summary = "The same writes where huge pages are permitted: one in 512 waits for a huge page.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "(ops + 1001) * page_bytes + 8 * ops + 2 * huge_page_bytes",
       .laws = TAIL_LAWS "; each.minor_faults <= ops", .calls = "each:getrusage?", .run = run);
