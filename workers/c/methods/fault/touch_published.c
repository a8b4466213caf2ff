#include "published.h"

static void run(struct slot *s)
{
    published_run(s, false);
}

METHOD(fault_touch_published, .experiment = "fault", .name = "touch-published", .role = "published",
       .summary = "The P5 job as published, without advice: mapped anew each time, never unmapped.",
       .phases = "first-touch", .keys = PUBLISHED_KEYS, .memory = "bytes * rounds", .isolation = "own",
       .laws = "first-touch.minor_faults >= bytes / huge_page_bytes", .calls = "", .backing_huge = false, .run = run);
