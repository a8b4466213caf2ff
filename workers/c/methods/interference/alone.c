#include "interference.h"

static void run(struct slot *s)
{
    struct scan w = scan_none(s);
    PHASE(s, "work") { }
    scan_end(s, &w);
}

METHOD(interference_alone, .experiment = "interference", .name = "alone", .role = "null",
       .summary = "The victim alone: no worker. Its latencies are those that all others are compared with.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read|write|copy|memory"),
       .memory = INTERFERENCE_MEMORY, .laws = VICTIM_LAWS "; victim_device_bytes == 0; refault_pages == 0", .calls = "",
       .run = run);
