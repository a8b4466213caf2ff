#include "heap.h"

static void run(struct slot *s)
{
    malloc_and_free(s, 262144);
}

METHOD(tail_malloc_256k, .experiment = "tail", .name = "malloc-256k", .group = "heap",
       .summary = "malloc() of 262144 bytes by the C library, a write to the first, free().", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "8 * ops + 4194304", .laws = TAIL_LAWS,
       .calls = "each:mmap?,munmap?,brk?,madvise?,getrandom?,getrusage?", .run = run);
