#include "fault.h"

/* The least this machine can take: what the kernel does to each page besides the fault, namely clearing it. */
static void run(struct slot *s)
{
    size_t bytes = s->bytes;
    s->ops = bytes / s->page_bytes;
    char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes);
    PHASE(s, "first-touch") { memset(p, 0, bytes); }
    fact(s, "cleared", digest_of(p, bytes) == bytes * 0x9E3779B97F4A7C15u); /* the digest of zeros */
    fact(s, "footprint_bytes", bytes);
    munmap(p, bytes);
}

METHOD(fault_limit, .experiment = "fault", .name = "limit", .role = "limit",
       .summary = "Clear the same bytes in resident memory (memset): no fault can cost less than clearing its page.",
       .phases = "first-touch", .keys = "bytes:size", .memory = "bytes",
       .laws = "first-touch.minor_faults == 0; cleared == 1", .calls = "", .run = run);
