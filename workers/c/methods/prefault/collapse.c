#include "prefault.h"

static size_t huge_page; /* of collapse_part() */

static void collapse_part(const struct part *part)
{
    size_t whole = part->bytes / huge_page * huge_page;
    prefault_note(whole && madvise(part->start, whole, MADV_COLLAPSE) != 0);
}

static void run(struct slot *s)
{
    fault_needs_huge(s, false);
    struct memory m = prefault_begin(s, MADV_NOHUGEPAGE, 0);
    size_t bytes = s->bytes, there;
    char *p, mark = page_mark(s);
    huge_page = s->huge_page_bytes;
    /* Where the settings give every fault a huge page, there would be nothing to collapse. */
    forbid_huge_pages(s, true);
    pool_wake(s);
    SERIES_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        on_every_thread(s, touch_pages, p, there, mark);
    }
    neighbor_pause(s);
    check_map(s, p);
    forbid_huge_pages(s, false);
    fact(s, "touched.huge_bytes", resident_in(s, p, bytes).huge_bytes);
    pool_wake(s);
    neighbor_begin();
    SERIES_PHASE(s, "populate") { on_every_thread(s, collapse_part, p, bytes, 0); }
    prefault_lacks(s, EINVAL, "this kernel has no MADV_COLLAPSE (Linux 6.1)");
    prefault_lacks(s, ENOMEM, "no huge pages are to be had for all of it: echo 1 > /proc/sys/vm/compact_memory");
    prefault_populated(s, p, "madvise");
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

METHOD(prefault_collapse, .experiment = "prefault", .name = "collapse",
       .summary = "Write one byte to each base page, then have MADV_COLLAPSE copy them into huge pages.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS("private", EVERY_PIN), .memory = PREFAULT_MEMORY, .backing_huge = true,
       .laws = "populate.minor_faults == bytes / page_bytes; touched.huge_bytes == 0; rss_bytes == bytes; "
               "huge_bytes == bytes / huge_page_bytes * huge_page_bytes; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS,
       .calls = "populate:madvise" TEARDOWN_CALLS, .run = run);
