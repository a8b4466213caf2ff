#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    PHASE(s, "map") { guest_map(&g, MAP_PRIVATE, g.snapshot); }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

METHOD(restore_file_private, .experiment = "restore", .name = "file-private",
       .summary = "A private mapping of the snapshot: the kernel finds each page when it is touched, and copies it when it is written.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap end:munmap", .run = run);
