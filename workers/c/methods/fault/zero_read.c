#include "kinds.h"

/* The zero page is nobody's resident memory, and yet each page is present: that is how it is told from a page of one's own. */
static SHARED_BODY void run(struct slot *s, bool huge)
{
    if (huge)
        fault_needs_huge(s, true);
    if (huge && number_in("/sys/kernel/mm/transparent_hugepage/use_zero_page", 0) != 1)
        skip(s, "the huge page of zeros is switched off: echo 1 > /sys/kernel/mm/transparent_hugepage/use_zero_page");
    fault_begin(s);
    char *p = kind_map(s, huge);
    PARALLEL_PHASE(s, "first-read") { on_every_thread(s, read_pages, p, s->bytes, 0); }
    fact(s, "first-read.rss_bytes", resident_in(s, p, s->bytes).rss_bytes);
    fact(s, "present_bytes", s->proofs ? mapped_present_bytes(s, p, s->bytes) : 0);
    fact(s, "nonzero_bytes", nonzero_bytes(s, p));
    written_after(s, p);
    kind_unmap(s, p);
}

static void base_page(struct slot *s) { run(s, false); }
METHOD(fault_zero_read, .experiment = "fault", .name = "zero-read", .group = READ_GROUP,
       .summary = "Read one byte of each fresh page: the kernel maps its page of zeros, and gives no memory.",
       .phases = "map advise first-read unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = FAULT_A_PAGE("first-read") "; " NOTHING_BEFORE "; first-read.rss_bytes == 0; present_bytes == bytes; "
               "nonzero_bytes == 0" "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise unmap:munmap", .run = base_page);

static void huge_page(struct slot *s) { run(s, true); }
METHOD(fault_huge_zero, .experiment = "fault", .name = "huge-zero", .group = READ_GROUP,
       .summary = "Read fresh memory for which huge pages are permitted: one fault maps the huge page of zeros.",
       .phases = "map advise first-read unmap", .keys = KIND_KEYS, .memory = "bytes", .backing_huge = true,
       .laws = "first-read.minor_faults == " HUGE_FAULTS "; " NOTHING_BEFORE "; first-read.rss_bytes == 0; "
               "present_bytes == bytes; nonzero_bytes == 0" "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise unmap:munmap", .run = huge_page);
