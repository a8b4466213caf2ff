#include "allocate.h"
#include <malloc.h>

/* Another library's malloc is put in LD_PRELOAD by the laboratory. */
#define PRELOADED_LAWS                                                                                                 \
    FILLED_LAWS "; malloc_is_preloaded == 1; fill.minor_faults <= " PAGES " + 1; " BACKING_LAWS("fill")

/* What these libraries ask of the kernel depends on size, settings and version. */
#define PRELOADED_CALLS                                                                                                \
    "allocate:brk?,mmap?,munmap?,mprotect?,madvise?,access? free:brk?,mmap?,munmap?,mprotect?,madvise?"

/* M_MMAP_THRESHOLD cannot be raised above 32 MiB, so glibc is told to map no block at all; -1 forbids trimming. */
static void use_the_heap_only(struct slot *s)
{
#ifdef M_MMAP_MAX
    if (!mallopt(M_MMAP_MAX, 0) || !mallopt(M_TRIM_THRESHOLD, -1))
        fail_because(s, "mallopt", "refused");
#else
    skip(s, "this C library's malloc cannot be told to map no block");
#endif
}

static SHARED_BODY void run(struct slot *s, const char *library, const char *package, bool heap_only)
{
    allocate_malloc(s, library, package);
    allocate_begin(s);
    if (heap_only)
        use_the_heap_only(s);
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
    if (!library)
        allocate_glibc(s, p);
    allocate_filled(s, p, 0, false);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    PHASE(s, "free") { free(p); }
    allocate_end(s);
}

static void anywhere(struct slot *s) { run(s, NULL, NULL, false); }
METHOD(allocate_malloc_zero, .experiment = "allocate", .name = "malloc-zero",
       .summary = "malloc, then memset to zero, which the compiler cannot merge: gcc -O2 makes one calloc of such a pair in one function.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " GLIBC_LAWS "; " GLIBC_MMAP_LAWS "; " MALLOC_FAULT_LAWS("fill") "; " BACKING_LAWS("fill"),
       .calls = "allocate:getrandom?,brk?,mmap?,munmap? free:brk?,munmap?", .run = anywhere);

static void in_the_heap(struct slot *s) { run(s, NULL, NULL, true); }
METHOD(allocate_malloc_brk, .experiment = "allocate", .name = "malloc-brk",
       .summary = "malloc from the heap (brk) at every size, then memset to zero; free keeps the memory for the next malloc.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " GLIBC_LAWS "; mmapped_blocks == 0; below_break == 1; " BACKING_LAWS("fill") "; "
               /* malloc itself writes into the first page, and into the last where the heap's rest begins in it. */
               "fill.minor_faults <= " PAGES "; reuse=first & base_pages_only == 1 & bytes >= 262144: fill.minor_faults >= " PAGES " - 2; "
               "free.anonymous_bytes >= before.anonymous_bytes + " WHOLE_BYTES,
       .calls = "allocate:getrandom?,brk?", .run = in_the_heap);

static void jemalloc(struct slot *s) { run(s, "libjemalloc.so.2", "libjemalloc2", false); }
METHOD(allocate_jemalloc, .experiment = "allocate", .name = "jemalloc",
       .summary = "malloc of jemalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = "libjemalloc.so.2", .package = "libjemalloc2", .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = jemalloc);

static void mimalloc(struct slot *s) { run(s, "libmimalloc.so.2", "libmimalloc2.0", false); }
METHOD(allocate_mimalloc, .experiment = "allocate", .name = "mimalloc",
       .summary = "malloc of mimalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = "libmimalloc.so.2", .package = "libmimalloc2.0", .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = mimalloc);

static void tcmalloc(struct slot *s) { run(s, "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4", false); }
METHOD(allocate_tcmalloc, .experiment = "allocate", .name = "tcmalloc",
       .summary = "malloc of tcmalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = "libtcmalloc_minimal.so.4", .package = "libtcmalloc-minimal4", .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = tcmalloc);
