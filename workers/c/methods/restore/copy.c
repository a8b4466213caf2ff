#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    PHASE(s, "map") {
        char *p = guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        if (!g.failed && !read_all(g.snapshot, p, g.bytes, 0))
            guest_lost(&g, "pread");
    }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

METHOD(restore_copy, .experiment = "restore", .name = "copy",
       .summary = "pread() of all into anonymous memory before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == clones * bytes; first.minor_faults + work.minor_faults == 0",
       .calls = "map:mmap,pread64 end:munmap", .run = run);
