#include "reset.h"

static void reset(struct region *r)
{
    struct scan_argument a = {.inverted = PAGE_ZERO | PAGE_FILE,
                              .all_of = PAGE_WRITTEN | PAGE_PRESENT | PAGE_ZERO | PAGE_FILE};
    char *at = r->p, *end = at + r->bytes;
    while (at < end && scan_and_restore(r, &a, at) >= 0)
        at = (char *)(uintptr_t)a.walk_end;
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, OVER_IMAGE);
    struct scan scan = scan_open(s, &r);
    r.own = &scan;
    reset_cycles(s, &r, reset);
    scan_close(s, &r);
    region_end(&r);
}

METHOD(reset_scan_reset, .experiment = "reset", .name = "scan-reset",
       .summary = "PAGEMAP_SCAN for pages that are present and neither zero page nor file; those are put back in place.",
       .phases = RESET_PHASES, .keys = SCAN_KEYS, .memory = "2 * bytes",
       .laws = KEPT_LAWS "; scanned_bytes >= dirty_pages * page_bytes; history=whole: scanned_bytes == bytes; "
               "history=same & pages=small: scanned_bytes == dirty_pages * page_bytes; regions * scans >= scanned_regions",
       .calls = "reset:ioctl", .run = run);
