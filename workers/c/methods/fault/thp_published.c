#include "published.h"

static void run(struct slot *s)
{
    need_huge_pages(s);
    published_run(s, true);
}

METHOD(fault_thp_published, .experiment = "fault", .name = "thp-published", .role = "published",
       .summary = "The P5 job as published, with MADV_HUGEPAGE before the clock (\"prefetch\" there): a Go benchmark of "
                  "mappings made anew and never unmapped.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS, .memory = "pile", .isolation = "fresh",
       .laws = PUBLISHED_LAWS, .calls = "", .backing_huge = true, .run = run);
