#include "heap.h"

static const char library[] = "libjemalloc.so.2", package[] = "libjemalloc2";

static void run(struct slot *s)
{
    heap_run(s, library, package);
}

METHOD(heap_jemalloc, .experiment = "heap", .name = "jemalloc", .summary = "The life of a heap with jemalloc, preloaded.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh", .preload = library,
       .package = package, .laws = HEAP_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_CALLS, .run = run);
