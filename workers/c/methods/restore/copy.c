#include "restore.h"

static SHARED_BODY void run(struct slot *s, bool huge)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    if (huge)
        need_huge_pages(s);
    if (huge && g.bytes % s->huge_page_bytes != 0)
        skip(s, NO_WHOLE_HUGE_PAGES);
    PHASE(s, "map") {
        char *p = guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        if (huge && !g.failed && madvise(p, g.bytes, MADV_HUGEPAGE) != 0)
            guest_lost(&g, "madvise");
        if (!g.failed && !read_all(g.snapshot, p, g.bytes, 0))
            guest_lost(&g, "pread");
    }
    guest_check(s, &g);
    guest_work(s, &g);
    if (huge)
        fact(s, "huge_bytes", resident_in(s, g.p, g.bytes).huge_bytes);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

static void plain(struct slot *s) { run(s, false); }
METHOD(restore_copy, .experiment = "restore", .name = "copy",
       .summary = "pread() of all into anonymous memory before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == clones * bytes; first.minor_faults + work.minor_faults == 0",
       .calls = "map:mmap,pread64 end:munmap", .run = plain);

static void huge_pages(struct slot *s) { run(s, true); }
METHOD(restore_copy_thp, .experiment = "restore", .name = "copy-thp",
       .summary = "pread() of all into anonymous memory in huge pages before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == clones * bytes; first.minor_faults + work.minor_faults == 0; huge_bytes == clones * bytes",
       .calls = "map:mmap,madvise,pread64 end:munmap", .run = huge_pages);
