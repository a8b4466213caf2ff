#include "preloaded.h"

static const char library[] = "libjemalloc.so.2", package[] = "libjemalloc2";

static void run(struct slot *s)
{
    preloaded_run(s, library, package);
}

METHOD(allocate_jemalloc, .experiment = "allocate", .name = "jemalloc",
       .summary = "malloc of jemalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = library, .package = package, .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = run);
