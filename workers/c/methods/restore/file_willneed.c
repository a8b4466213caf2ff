#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    PHASE(s, "map") {
        char *p = guest_map(&g, MAP_PRIVATE, g.snapshot);
        for (size_t at = 0, pages; at < g.count && !g.failed; at += pages) {
            pages = set_run(&g, at);
            if (madvise(p + g.set[at] * g.page, pages * g.page, MADV_WILLNEED) != 0)
                guest_lost(&g, "madvise");
        }
    }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

METHOD(restore_file_willneed, .experiment = "restore", .name = "file-willneed",
       .summary = "A private mapping, and madvise(MADV_WILLNEED) for each run of the recorded set before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap,madvise end:munmap", .run = run);
