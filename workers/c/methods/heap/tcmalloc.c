#include "heap.h"

static const char library[] = "libtcmalloc_minimal.so.4", package[] = "libtcmalloc-minimal4";

static void run(struct slot *s)
{
    heap_run(s, library, package);
}

METHOD(heap_tcmalloc, .experiment = "heap", .name = "tcmalloc", .summary = "The life of a heap with tcmalloc, preloaded.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh", .preload = library,
       .package = package, .laws = HEAP_LAWS "; malloc_is_preloaded == 1", .calls = HEAP_CALLS, .run = run);
