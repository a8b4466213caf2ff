#include "heap.h"

static void run(struct slot *s)
{
    heap_run(s, NULL, NULL);
}

METHOD(heap_glibc, .experiment = "heap", .name = "glibc", .summary = "The life of a heap with glibc's malloc, as it comes.",
       .phases = HEAP_PHASES, .keys = HEAP_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .laws = HEAP_LAWS "; malloc_is_glibc == 1", .calls = HEAP_CALLS, .run = run);
