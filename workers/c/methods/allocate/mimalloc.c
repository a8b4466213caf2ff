#include "preloaded.h"

static const char library[] = "libmimalloc.so.2", package[] = "libmimalloc2.0";

static void run(struct slot *s)
{
    preloaded_run(s, library, package);
}

METHOD(allocate_mimalloc, .experiment = "allocate", .name = "mimalloc",
       .summary = "malloc of mimalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = library, .package = package, .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = run);
