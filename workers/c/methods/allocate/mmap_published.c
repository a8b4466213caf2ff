#include "published.h"

static void run(struct slot *s)
{
    published_begin(s);
    size_t bytes = s->bytes;
    char *p, *q;
    uint64_t start = raw_ns();
    p = malloc(bytes);
    allocate_check(s, p, "malloc");
    SEEN(p);
    memset(p, 0, bytes);
    fact(s, "malloc_raw_ns", raw_ns() - start);
    published_zeros(s, p, false);
    free(p);
    published_between(s);
    start = raw_ns();
    PHASE(s, "allocate-and-fill") {
        q = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(q, 1, bytes);
    }
    fact(s, "mmap_raw_ns", raw_ns() - start);
    published_ones(s, q);
    memset(q, refill_mark(s), bytes);
    allocate_refilled(s, q);
    munmap(q, bytes);
}

METHOD(allocate_mmap_published, .experiment = "allocate", .name = "mmap-published", .role = "published",
       .summary = "P4 as published, its second half timed: a mapping and memset to 1, after malloc, memset to 0 and free.",
       .phases = PUBLISHED_PHASES, .keys = "bytes:size", .memory = "bytes", .isolation = "fresh",
       .laws = SEQUENCE_LAWS "; " CLOCK_LAWS("mmap") "; base_pages_only == 1: allocate-and-fill.minor_faults == " PAGES,
       .calls = "allocate-and-fill:mmap", .run = run);
