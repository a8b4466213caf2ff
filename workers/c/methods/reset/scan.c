/* What the scanning methods open and record. Never timed. */
#include "reset.h"
#include <fcntl.h>

struct scan scan_open(struct slot *s, struct region *r)
{
    struct scan scan = {.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), .userfault = -1,
                        .room = key_size(s, "regions")};
    if (scan.pagemap < 0)
        fail(s, "open /proc/self/pagemap");
    struct scan_argument nothing = {.size = sizeof nothing, .start = (uintptr_t)r->p, .end = (uintptr_t)r->p};
    if (ioctl(scan.pagemap, SCAN_PAGES, &nothing) < 0 && errno == ENOTTY)
        skip(s, "this kernel cannot scan page tables (PAGEMAP_SCAN): Linux 6.7");
    scan.regions = mmap(NULL, scan.room * sizeof *scan.regions, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, scan.regions);
    return scan;
}

void scan_close(struct slot *s, const struct region *r)
{
    const struct scan *scan = r->own;
    fact(s, "scans", r->scans);
    fact(s, "scanned_regions", r->found);
    fact(s, "scanned_bytes", r->restored);
    munmap(scan->regions, scan->room * sizeof *scan->regions);
    close(scan->pagemap);
    if (scan->userfault >= 0)
        close(scan->userfault);
}
