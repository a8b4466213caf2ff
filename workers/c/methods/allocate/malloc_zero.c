#include "allocate.h"

static void run(struct slot *s)
{
    allocate_malloc(s, NULL, NULL);
    allocate_begin(s);
    size_t bytes = s->bytes;
    char *p, mark = refill_mark(s);
    struct before last = allocate_before(s, get_malloc, give_free);
    PHASE(s, "allocate") {
        p = last.block;
        if (!last.kept) {
            free(last.block);
            p = malloc(bytes);
        }
    }
    allocate_check(s, p, "malloc");
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, set_part, p, bytes, 0); }
    allocate_glibc(s, p);
    allocate_filled(s, p, 0, false);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    PHASE(s, "free") { free(p); }
    allocate_end(s);
}

METHOD(allocate_malloc_zero, .experiment = "allocate", .name = "malloc-zero",
       .summary = "malloc, then memset to zero, which the compiler cannot merge: gcc -O2 makes one calloc of such a pair in one function.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " GLIBC_LAWS "; " GLIBC_MMAP_LAWS "; " MALLOC_FAULT_LAWS("fill") "; " BACKING_LAWS("fill"),
       .calls = "allocate:getrandom?,brk?,mmap?,munmap? free:brk?,munmap?", .run = run);
