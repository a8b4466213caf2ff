#include "heap.h"

static void run(struct slot *s)
{
    malloc_and_free(s, 32);
}

METHOD(tail_malloc_32, .experiment = "tail", .name = "malloc-32", .group = "heap",
       .summary = "malloc() of 32 bytes by the C library, a write to the first, free().", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "8 * ops + 4194304", .laws = TAIL_LAWS,
       .calls = "each:mmap?,munmap?,brk?,madvise?,getrandom?,getrusage?", .run = run);
