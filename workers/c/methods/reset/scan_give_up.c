#include "reset.h"

static void reset(struct region *r)
{
    struct scan_argument a = {.inverted = PAGE_ZERO | PAGE_FILE,
                              .all_of = PAGE_WRITTEN | PAGE_PRESENT | PAGE_ZERO | PAGE_FILE};
    long count = scan_and_restore(r, &a, r->p);
    char *end = r->p + r->bytes, *behind = (char *)(uintptr_t)a.walk_end;
    if (count >= 0 && behind < end && madvise(behind, (size_t)(end - behind), MADV_DONTNEED) != 0)
        region_lost(r, "madvise");
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

METHOD(reset_scan_give_up, .experiment = "reset", .name = "scan-give-up",
       .summary = "One PAGEMAP_SCAN, what it found is put back, and what lies behind its last region is discarded unseen.",
       .phases = RESET_PHASES, .keys = SCAN_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS HUGE_LAW "; reset.minor_faults == 0; scans == 1; scanned_regions <= regions; "
               "history=same & pages=small: use.minor_faults + scanned_bytes / page_bytes >= dirty_pages; "
               "history=same & pages=small: use.minor_faults + scanned_bytes / page_bytes <= dirty_pages + read_pages; "
               "runs <= regions & history=same & pages=small: scanned_bytes == dirty_pages * page_bytes",
       .calls = "reset:ioctl,madvise?", .run = run);
