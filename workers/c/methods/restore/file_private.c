#include "restore.h"

static SHARED_BODY void run(struct slot *s, int populate)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    PHASE(s, "map") { guest_map(&g, MAP_PRIVATE | populate, g.snapshot); }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

static void lazy(struct slot *s) { run(s, 0); }
METHOD(restore_file_private, .experiment = "restore", .name = "file-private",
       .summary = "A private mapping of the snapshot: the kernel finds each page when it is touched, and copies it when it is written.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap end:munmap", .run = lazy);

static void populated(struct slot *s) { run(s, MAP_POPULATE); }
METHOD(restore_file_populate, .experiment = "restore", .name = "file-populate",
       .summary = "A private mapping with MAP_POPULATE: a writable one is copied as a whole before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == clones * bytes; first.minor_faults + work.minor_faults == 0",
       .calls = "map:mmap end:munmap", .run = populated);
