#include "prefault.h"

/* The memory is fresh: io_uring_register(2) faults each page in before it pins it. */
static void run(struct slot *s)
{
    struct memory m = prefault_begin(s, MADV_NOHUGEPAGE, 0);
    size_t bytes = s->bytes;
    char *p;
    int advised = 0;
    PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        if (p != MAP_FAILED)
            advised = madvise(p, bytes, MADV_NOHUGEPAGE);
    }
    prefault_populated(s, p, "mmap");
    prefault_advised(s, advised, MADV_NOHUGEPAGE);
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

METHOD(prefault_register, .experiment = "prefault", .name = "register",
       .summary = "Map, then io_uring_register(2) as buffers, each thread its part with its ring: base pages come and are pinned.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, "ring"), .memory = PREFAULT_MEMORY,
       .laws = "populate.minor_faults == 0; pin.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = run);
