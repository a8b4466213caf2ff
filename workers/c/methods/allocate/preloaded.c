/* malloc and memset under another library's malloc, which the laboratory puts in LD_PRELOAD. */
#include "allocate.h"

#define PRELOADED_LAWS                                                                                                 \
    FILLED_LAWS "; malloc_is_preloaded == 1; fill.minor_faults <= " PAGES " + 1; " BACKING_LAWS("fill")

/* What these libraries ask of the kernel depends on size, settings and version. */
#define PRELOADED_CALLS                                                                                                \
    "allocate:brk?,mmap?,munmap?,mprotect?,madvise?,access? free:brk?,mmap?,munmap?,mprotect?,madvise?"

static SHARED_BODY void run(struct slot *s, const char *library, const char *package)
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

static void jemalloc(struct slot *s) { run(s, "libjemalloc.so.2", "libjemalloc2"); }
METHOD(allocate_jemalloc, .experiment = "allocate", .name = "jemalloc",
       .summary = "malloc of jemalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = "libjemalloc.so.2", .package = "libjemalloc2", .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = jemalloc);

static void mimalloc(struct slot *s) { run(s, "libmimalloc.so.2", "libmimalloc2.0"); }
METHOD(allocate_mimalloc, .experiment = "allocate", .name = "mimalloc",
       .summary = "malloc of mimalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = "libmimalloc.so.2", .package = "libmimalloc2.0", .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = mimalloc);

static void tcmalloc(struct slot *s) { run(s, "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"); }
METHOD(allocate_tcmalloc, .experiment = "allocate", .name = "tcmalloc",
       .summary = "malloc of tcmalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = "libtcmalloc_minimal.so.4", .package = "libtcmalloc-minimal4", .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = tcmalloc);
