#include "threads.h"

static void run(struct slot *s)
{
    heap_threads_run(s, NULL, NULL);
}

METHOD(heap_glibc_threads, .experiment = "heap", .name = "glibc-threads", .group = "threads",
       .summary = "Several threads, each with a heap of its own, with glibc's malloc as it comes.",
       .phases = HEAP_THREADS_PHASES, .keys = HEAP_THREADS_KEYS, .memory = HEAP_MEMORY, .isolation = "fresh",
       .laws = HEAP_THREADS_LAWS "; malloc_is_glibc == 1", .calls = HEAP_THREADS_CALLS, .run = run);
