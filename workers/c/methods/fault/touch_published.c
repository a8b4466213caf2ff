#include "published.h"

static void without_advice(struct slot *s) { published_run(s, false); }
METHOD(fault_touch_published, .experiment = "fault", .name = "touch-published", .role = "published",
       .summary = "The P5 job as published, without advice: a Go benchmark of mappings made anew "
                  "and never unmapped.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS, .memory = "pile", .isolation = "fresh",
       .laws = "base_pages_only == 1: first-touch.minor_faults == first-touch.ops; " PUBLISHED_LAWS,
       .calls = "", .backing_huge = false, .run = without_advice);

static void advised(struct slot *s)
{
    need_huge_pages(s);
    published_run(s, true);
}

METHOD(fault_thp_published, .experiment = "fault", .name = "thp-published", .role = "published",
       .summary = "The P5 job as published, with MADV_HUGEPAGE before the clock (\"prefetch\" there): a Go benchmark of "
                  "mappings made anew and never unmapped.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS, .memory = "pile", .isolation = "fresh",
       .laws = PUBLISHED_LAWS, .calls = "", .backing_huge = true, .run = advised);
