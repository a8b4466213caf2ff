#include "kinds.h"

static void run(struct slot *s)
{
    fault_begin(s);
    char *p = kind_map(s, false);
    PARALLEL_PHASE(s, "first-read") { on_every_thread(s, read_pages, p, s->bytes, 0); }
    struct resident now = resident_in(s, p, s->bytes);
    fact(s, "first-read.rss_bytes", now.rss_bytes);
    fact(s, "present_bytes", s->proofs ? mapped_present_bytes(s, p, s->bytes) : 0);
    fact(s, "nonzero_bytes", nonzero_bytes(s, p));
    written_after(s, p);
    kind_unmap(s, p);
}

/* The zero page is nobody's resident memory, and yet each page is present: that is how it is told from a page of one's own. */
METHOD(fault_zero_read, .experiment = "fault", .name = "zero-read", .group = READ_GROUP,
       .summary = "Read one byte of each fresh page: the kernel maps its page of zeros, and gives no memory.",
       .phases = "map advise first-read unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = FAULT_A_PAGE("first-read") "; " NOTHING_BEFORE "; first-read.rss_bytes == 0; present_bytes == bytes; "
               "nonzero_bytes == 0" "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise unmap:munmap", .run = run);
