#include "methods/fault/userfault.h"
#include "reset.h"

#ifndef UFFD_FEATURE_WP_ASYNC /* Linux 6.7 */
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

/* A page that is protected while it is looked for counts as written to once it is put back: each stretch is protected after. */
static void reset(struct region *r)
{
    struct scan_argument a = {.flags = SCAN_CHECK_ASYNC, .all_of = PAGE_WRITTEN};
    const struct scan *scan = r->own;
    char *at = r->p, *end = at + r->bytes;
    long count;
    while (at < end && (count = scan_and_restore(r, &a, at)) >= 0) {
        struct scan_argument protect = {.size = sizeof protect, .flags = SCAN_PROTECT | SCAN_CHECK_ASYNC,
                                        .start = (uintptr_t)at, .end = a.walk_end, .all_of = PAGE_WRITTEN};
        if (count > 0 && ioctl(scan->pagemap, SCAN_PAGES, &protect) < 0)
            region_lost(r, "ioctl PAGEMAP_SCAN");
        at = (char *)(uintptr_t)a.walk_end;
    }
}

static void run(struct slot *s)
{
    struct userfault u = {0};
    userfault_open(s, &u, UFFD_FEATURE_WP_ASYNC, "Linux 6.7");
    struct region r = region_begin(s, TRACKED);
    struct scan scan = scan_open(s, &r);
    scan.userfault = u.descriptor;
    r.own = &scan;
    u.p = r.p;
    userfault_register(s, &u, UFFDIO_REGISTER_MODE_WP);
    struct uffdio_writeprotect all = {.range = {(uintptr_t)r.p, r.bytes}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    check_done(s, ioctl(u.descriptor, UFFDIO_WRITEPROTECT, &all), "ioctl UFFDIO_WRITEPROTECT");
    reset_cycles(s, &r, reset);
    scan_close(s, &r);
    region_end(&r);
}

METHOD(reset_scan_wp, .experiment = "reset", .name = "scan-wp",
       .summary = "userfaultfd has the kernel note writes (WP_ASYNC); PAGEMAP_SCAN finds them, and protects what was put back.",
       .phases = RESET_PHASES, .keys = SCAN_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS "; reset.minor_faults == 0; use.minor_faults >= dirty_pages; "
               "scanned_bytes == dirty_pages * page_bytes; regions * scans >= scanned_regions",
       .calls = "reset:ioctl", .run = run);
