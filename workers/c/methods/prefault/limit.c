#include "prefault.h"
#include "pin.h"

/* The least this machine can take: the kernel clears each page before it gives it away. */
static void run(struct slot *s)
{
    size_t bytes = s->bytes;
    s->ops = bytes;
    pin_threads(s);
    char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes);
    PARALLEL_PHASE(s, "populate") { on_every_thread(s, clear_part, p, bytes, 0); }
    if (s->proofs)
        fact(s, "cleared", digest_of(p, bytes) == bytes * 0x9E3779B97F4A7C15u); /* the digest of zeros */
    pin_threads_facts(s);
    fact(s, "footprint_bytes", bytes);
    munmap(p, bytes);
}

METHOD(prefault_limit, .experiment = "prefault", .name = "limit", .role = "limit",
       .summary = "Clear the same bytes in resident memory with as many threads: no fresh page costs less than clearing it.",
       .phases = "populate", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = "populate.minor_faults == 0; cleared == 1; cpus == threads; " THREADS_LAWS, .calls = "", .run = run);
