#include "fault.h"

/* The extents of all processes, those that end before a whole huge page included. */
#define EXTENTS "processes * ((" SHARE " + huge_page_bytes - 1) / huge_page_bytes)"

/* MADV_COLLAPSE wants at least one page of each huge extent to be there. */
__attribute__((always_inline)) static inline void touch_extents(char *start, size_t bytes, size_t huge, char mark)
{
    volatile char *p = start;
    for (size_t i = 0; i < bytes; i += huge)
        p[i] = mark;
}

static void run(struct slot *s)
{
    fault_needs_huge(s, false);
    fault_begin(s);
    size_t bytes = s->bytes, huge = s->huge_page_bytes, whole = bytes / huge * huge;
    char *at = free_range(s, bytes), *p, mark = page_mark(s);
    int collapsed = 0;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    /* Where the settings give every fault a huge page, there would be nothing to collapse. */
    forbid_huge_pages(s, true);
    SERIES_PHASE(s, "advise") { touch_extents(p, bytes, huge, mark); }
    forbid_huge_pages(s, false);
    fault_before(s, p);
    SERIES_PHASE(s, "advise") { collapsed = madvise(p, whole, MADV_COLLAPSE); }
    if (collapsed != 0 && errno == EINVAL)
        skip(s, "this kernel has no MADV_COLLAPSE (Linux 6.1)");
    if (collapsed != 0)
        fail(s, "madvise");
    /* The kernel's settings for memory without advice hold for the refault, so it is left to base pages. */
    madvise(p, bytes, MADV_NOHUGEPAGE);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    fault_proofs(s, p);
    fault_rest(s, p);
}

METHOD(fault_collapse, .experiment = "fault", .name = "collapse",
       .summary = "Touch one page of each huge extent, then have MADV_COLLAPSE make it a huge page at once.",
       .phases = FAULT_PHASES, .keys = FAULT_KEYS, .memory = "bytes", .backing_huge = true,
       /* One touch per extent; in a last extent that is no whole huge page, first-touch finds the other pages missing. */
       .laws = HUGE_LAWS "; advise.minor_faults == " EXTENTS "; before.rss_bytes == page_bytes * " EXTENTS
               "; before.huge_bytes == 0; first-touch.minor_faults + advise.minor_faults == " HUGE_FAULTS "; "
               "release=dontneed: refault.huge_bytes == 0; " BASE_REFAULT "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
