#include "allocate.h"

/* The least this machine can take: the writing alone, into memory that is there. */
static void run(struct slot *s)
{
    size_t bytes = s->bytes, mapped = whole_pages(s);
    char *p = mmap(free_range(s, mapped), mapped, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    char mark = refill_mark(s);
    check_map(s, p);
    s->ops = bytes;
    madvise(p, mapped, MADV_HUGEPAGE);
    memset(p, 2, mapped);
    PHASE(s, "fill") { memset(p, 0, bytes); }
    fact(s, "cleared", digest_of(p, bytes) == bytes * 0x9E3779B97F4A7C15u);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    munmap(p, mapped);
}

METHOD(allocate_limit, .experiment = "allocate", .name = "limit", .role = "limit",
       .summary = "memset of the same bytes in resident memory: no way to get memory filled can cost less.",
       .phases = "fill refill", .keys = "bytes:size", .memory = "bytes", .isolation = "fresh",
       .laws = "fill.minor_faults == 0; refill.minor_faults == 0; cleared == 1", .calls = "", .run = run);
