#include "heap.h"

static const char library[] = "libmimalloc.so.2", package[] = "libmimalloc2.0";

static void run(struct slot *s)
{
    heap_run(s, library, package);
}

METHOD(heap_mimalloc, .experiment = "heap", .name = "mimalloc", .summary = "The life of a heap with mimalloc, preloaded.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh", .preload = library,
       .package = package, .laws = HEAP_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_CALLS, .run = run);
