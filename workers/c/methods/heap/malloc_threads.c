#include "threads.h"

static void glibc(struct slot *s) { heap_threads_run(s, NULL, NULL); }
METHOD(heap_glibc_threads, .experiment = "heap", .name = "glibc-threads", .group = "threads",
       .summary = "Several threads, each with a heap of its own, with glibc's malloc as it comes.",
       .phases = HEAP_THREADS_PHASES, .keys = HEAP_THREADS_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .laws = HEAP_THREADS_LAWS "; malloc_is_glibc == 1", .calls = HEAP_THREADS_CALLS, .run = glibc);

static void jemalloc(struct slot *s) { heap_threads_run(s, "libjemalloc.so.2", "libjemalloc2"); }
METHOD(heap_jemalloc_threads, .experiment = "heap", .name = "jemalloc-threads", .group = "threads",
       .summary = "Several threads, each with a heap of its own, with jemalloc, preloaded.", .phases = HEAP_THREADS_PHASES,
       .keys = HEAP_THREADS_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .preload = "libjemalloc.so.2", .package = "libjemalloc2",
       .laws = HEAP_THREADS_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_THREADS_CALLS, .run = jemalloc);

static void mimalloc(struct slot *s) { heap_threads_run(s, "libmimalloc.so.2", "libmimalloc2.0"); }
METHOD(heap_mimalloc_threads, .experiment = "heap", .name = "mimalloc-threads", .group = "threads",
       .summary = "Several threads, each with a heap of its own, with mimalloc, preloaded.", .phases = HEAP_THREADS_PHASES,
       .keys = HEAP_THREADS_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .preload = "libmimalloc.so.2", .package = "libmimalloc2.0",
       .laws = HEAP_THREADS_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_THREADS_CALLS, .run = mimalloc);

static void tcmalloc(struct slot *s) { heap_threads_run(s, "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"); }
METHOD(heap_tcmalloc_threads, .experiment = "heap", .name = "tcmalloc-threads", .group = "threads",
       .summary = "Several threads, each with a heap of its own, with tcmalloc, preloaded.", .phases = HEAP_THREADS_PHASES,
       .keys = HEAP_THREADS_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .preload = "libtcmalloc_minimal.so.4", .package = "libtcmalloc-minimal4",
       .laws = HEAP_THREADS_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_THREADS_CALLS, .run = tcmalloc);
