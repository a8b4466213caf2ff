/* The pool that hugetlb methods draw from. Its pages are the pool's, so backing cannot be prepared by touching others. */
#include "hugetlb.h"
#include <stdio.h>

void hugetlb_begin(struct slot *s)
{
    if (!s->huge_page_bytes || s->bytes % s->huge_page_bytes != 0)
        skip(s, NO_WHOLE_HUGE_PAGES);
    if (!key_is(s, "release", "dontneed"))
        skip(s, "hugetlb memory knows only release=dontneed (madvise(2))");
    if (key_is(s, "backing", "cold"))
        skip(s, "the pool's huge pages are never returned to the host, so they cannot be made cold");
    s->ops = s->bytes / s->page_bytes;
    reset_peak_rss();
}

void hugetlb_check(struct slot *s, const void *mapped)
{
    if (mapped == MAP_FAILED && errno == ENOMEM) {
        static char reason[160];

        snprintf(reason, sizeof reason, "the huge page pool holds fewer than %zu free pages: sudo sysctl vm.nr_hugepages=%zu",
                 s->bytes / s->huge_page_bytes, s->bytes / s->huge_page_bytes);
        skip(s, reason);
    }
    check_map(s, mapped);
}
