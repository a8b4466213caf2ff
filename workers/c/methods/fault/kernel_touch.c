#include "kinds.h"

__attribute__((always_inline)) static inline size_t read_whole(int from, char *p, size_t bytes)
{
    size_t at = 0;
    ssize_t got;
    while (at < bytes && (got = pread(from, p + at, bytes - at, (off_t)at)) > 0)
        at += (size_t)got;
    return at;
}

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes, got = 0;
    int from = kind_file(s, false).descriptor;
    char *p = kind_map(s, false);
    PHASE(s, "first-touch") { got = read_whole(from, p, bytes); }
    if (got != bytes)
        fail(s, "pread");
    fault_proofs(s, p);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PHASE(s, "re-touch") { got = read_whole(from, p, bytes); }
    if (got != bytes)
        fail(s, "pread");
    close(from);
    kind_unmap(s, p);
}

/* Which of the two wrote is known by the system calls: the program itself writes nothing. */
METHOD(fault_kernel_touch, .experiment = "fault", .name = "kernel-touch", .group = WHOLE_GROUP,
       .summary = "pread(2) of a file in memory into fresh memory: the kernel, not the program, takes the faults, one a page.",
       .phases = "map advise first-touch re-touch unmap",
       .keys = "bytes:size processes:count backing:recycled|cold idle_ms:count", .memory = "2 * bytes",
       .laws = FAULT_A_PAGE("first-touch") "; " NOTHING_BEFORE "; huge_bytes == 0; first-touch.rss_bytes == bytes; "
               RE_TOUCH_LAW,
       .calls = "map:mmap advise:madvise first-touch:pread64 re-touch:pread64 unmap:munmap", .run = run);
