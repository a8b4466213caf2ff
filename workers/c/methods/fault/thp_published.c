#include "published.h"

static void run(struct slot *s)
{
    published_run(s, true);
}

METHOD(fault_thp_published, .experiment = "fault", .name = "thp-published", .role = "published",
       .summary = "The P5 job as published, with MADV_HUGEPAGE before the clock (\"prefetch\" there): mapped anew "
                  "each time, never unmapped.",
       .phases = "first-touch", .keys = PUBLISHED_KEYS, .memory = "bytes * rounds", .isolation = "own",
       .laws = "first-touch.minor_faults >= bytes / huge_page_bytes", .calls = "", .backing_huge = true, .run = run);
