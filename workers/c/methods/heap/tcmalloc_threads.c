#include "threads.h"

static const char library[] = "libtcmalloc_minimal.so.4", package[] = "libtcmalloc-minimal4";

static void run(struct slot *s)
{
    heap_threads_run(s, library, package);
}

METHOD(heap_tcmalloc_threads, .experiment = "heap", .name = "tcmalloc-threads", .group = "threads",
       .summary = "Several threads, each with a heap of its own, with tcmalloc, preloaded.", .phases = HEAP_THREADS_PHASES,
       .keys = HEAP_THREADS_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh", .preload = library, .package = package,
       .laws = HEAP_THREADS_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_THREADS_CALLS, .run = run);
