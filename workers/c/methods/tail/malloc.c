#include "tail.h"
#include <stdlib.h>

static SHARED_BODY void run(struct slot *s, size_t bytes)
{
    struct tail t = tail_begin(s);
    size_t failed = 0;
    char mark = (char)(s->seed | 1);
    TAIL_TRIAL(&t, {
        volatile char *p = malloc(bytes);
        failed += !p || (*p = mark) != mark;
        free((void *)p);
    });
    PHASE(s, "each") {
        TAIL_LOOP(&t, {
            volatile char *p = malloc(bytes);
            failed += !p || (*p = mark) != mark;
            free((void *)p);
        });
    }
    check_done(s, failed != 0, "malloc");
    tail_end(s, &t);
}

static void small(struct slot *s) { run(s, 32); }
METHOD(tail_malloc_32, .experiment = "tail", .name = "malloc-32", .group = "heap",
       .summary = "malloc() of 32 bytes by the C library, a write to the first, free().", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "8 * ops + 4194304", .laws = TAIL_LAWS,
       .calls = "each:mmap?,munmap?,brk?,madvise?,getrandom?,getrusage?", .run = small);

static void large(struct slot *s) { run(s, 262144); }
METHOD(tail_malloc_256k, .experiment = "tail", .name = "malloc-256k", .group = "heap",
       .summary = "malloc() of 262144 bytes by the C library, a write to the first, free().", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "8 * ops + 4194304", .laws = TAIL_LAWS,
       .calls = "each:mmap?,munmap?,brk?,madvise?,getrandom?,getrusage?", .run = large);
