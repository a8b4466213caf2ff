#include "published.h"

static void run(struct slot *s)
{
    published_begin(s);
    size_t bytes = s->bytes;
    char *p, *q;
    uint64_t start = raw_ns();
    PHASE(s, "allocate-and-fill") {
        p = malloc(bytes);
        SEEN(p);
        memset(p, 0, bytes);
    }
    fact(s, "malloc_raw_ns", raw_ns() - start);
    allocate_check(s, p, "malloc");
    published_zeros(s, p, true);
    memset(p, refill_mark(s), bytes);
    allocate_refilled(s, p);
    free(p);
    published_between(s);
    start = raw_ns();
    q = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    allocate_check(s, q, "mmap");
    memset(q, 1, bytes);
    fact(s, "mmap_raw_ns", raw_ns() - start);
    published_ones(s, q);
    munmap(q, bytes);
}

METHOD(allocate_malloc_published, .experiment = "allocate", .name = "malloc-published", .role = "published",
       .summary = "P4 as published, its first half timed: malloc and memset to 0; then free, a mapping and memset to 1.",
       .phases = PUBLISHED_PHASES, .keys = "bytes:size", .memory = "bytes", .isolation = "fresh",
       .laws = SEQUENCE_LAWS "; " CLOCK_LAWS("malloc") "; base_pages_only == 1 & bytes >= 262144: "
               /* malloc itself writes a page or two of its heap when it starts. */
               "allocate-and-fill.minor_faults >= " PAGES_WITH_HEADER "; "
               "allocate-and-fill.minor_faults <= " PAGES_WITH_HEADER " + 2",
       .calls = "allocate-and-fill:getrandom?,brk?,mmap?", .run = run);
