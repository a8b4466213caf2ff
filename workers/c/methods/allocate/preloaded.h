/* malloc and memset under another library's malloc, which the laboratory puts in LD_PRELOAD. */
#ifndef PAGEWISE_ALLOCATE_PRELOADED_H
#define PAGEWISE_ALLOCATE_PRELOADED_H
#include "allocate.h"

#define PRELOADED_LAWS                                                                                                 \
    FILLED_LAWS "; malloc_is_preloaded == 1; fill.minor_faults <= " PAGES " + 1; " BACKING_LAWS("fill")

/* What these libraries ask of the kernel depends on size, settings and version. */
#define PRELOADED_CALLS                                                                                                \
    "allocate:brk?,mmap?,munmap?,mprotect?,madvise?,access? free:brk?,mmap?,munmap?,mprotect?,madvise?"

static inline void preloaded_run(struct slot *s, const char *library, const char *package)
{
    allocate_malloc(s, library, package);
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
    allocate_filled(s, p, 0, false);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    PHASE(s, "free") { free(p); }
    allocate_end(s);
}
#endif
