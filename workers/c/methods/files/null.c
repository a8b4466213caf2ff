#include "files.h"

static void run(struct slot *s)
{
    s->ops = key_size(s, "files");
    PHASE(s, "open") { }
    PHASE(s, "pass") { }
    PHASE(s, "close") { }
}

METHOD(files_null, .experiment = "files", .name = "null", .role = "null",
       .summary = "Every phase with an empty body: the floor below which nothing is resolved.", .phases = FILES_PHASES,
       .keys = "files:count bytes:size", .memory = "0", .laws = "pass.minor_faults == 0", .calls = "", .run = run);
