#include "preloaded.h"

static const char library[] = "libtcmalloc_minimal.so.4", package[] = "libtcmalloc-minimal4";

static void run(struct slot *s)
{
    preloaded_run(s, library, package);
}

METHOD(allocate_tcmalloc, .experiment = "allocate", .name = "tcmalloc",
       .summary = "malloc of tcmalloc, then memset to zero.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes + 8 * 1024 * 1024", .isolation = "fresh",
       .preload = library, .package = package, .laws = PRELOADED_LAWS,
       .calls = PRELOADED_CALLS, .run = run);
