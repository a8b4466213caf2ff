#include "heap.h"

static void glibc(struct slot *s) { heap_run(s, NULL, NULL); }
METHOD(heap_glibc, .experiment = "heap", .name = "glibc", .summary = "The life of a heap with glibc's malloc, as it comes.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .laws = HEAP_LAWS "; malloc_is_glibc == 1", .calls = HEAP_CALLS, .run = glibc);

static void jemalloc(struct slot *s) { heap_run(s, "libjemalloc.so.2", "libjemalloc2"); }
METHOD(heap_jemalloc, .experiment = "heap", .name = "jemalloc", .summary = "The life of a heap with jemalloc, preloaded.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .preload = "libjemalloc.so.2", .package = "libjemalloc2",
       .laws = HEAP_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_CALLS, .run = jemalloc);

static void mimalloc(struct slot *s) { heap_run(s, "libmimalloc.so.2", "libmimalloc2.0"); }
METHOD(heap_mimalloc, .experiment = "heap", .name = "mimalloc", .summary = "The life of a heap with mimalloc, preloaded.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .preload = "libmimalloc.so.2", .package = "libmimalloc2.0",
       .laws = HEAP_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_CALLS, .run = mimalloc);

static void tcmalloc(struct slot *s) { heap_run(s, "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"); }
METHOD(heap_tcmalloc, .experiment = "heap", .name = "tcmalloc", .summary = "The life of a heap with tcmalloc, preloaded.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .preload = "libtcmalloc_minimal.so.4", .package = "libtcmalloc-minimal4",
       .laws = HEAP_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_CALLS, .run = tcmalloc);
