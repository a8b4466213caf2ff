#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    PHASE(s, "map") { guest_map(&g, MAP_PRIVATE | MAP_POPULATE, g.snapshot); }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

METHOD(restore_file_populate, .experiment = "restore", .name = "file-populate",
       .summary = "A private mapping with MAP_POPULATE: a writable one is copied as a whole before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == clones * bytes; first.minor_faults + work.minor_faults == 0",
       .calls = "map:mmap end:munmap", .run = run);
