#include "pages.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    char *p = fresh_pages(s, &t);
    int advised = advise_pages(s, &t, p, MADV_NOHUGEPAGE);
    check_done(s, advised != 0 && errno != EINVAL, "madvise");
    write_pages(s, &t, p);
}

METHOD(tail_touch, .experiment = "tail", .name = "touch",
       .summary = "The first write to each of so many base pages, one after the other; huge pages are forbidden.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "(ops + 1001) * page_bytes + 8 * ops",
       .laws = TAIL_LAWS "; each.minor_faults == ops", .calls = "each:getrusage?", .run = run);
