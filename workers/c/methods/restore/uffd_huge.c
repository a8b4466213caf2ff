#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.11");
    need_pool(s, g.bytes);
    pager->around = s->huge_page_bytes;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
        pager->source = mmap(NULL, g.bytes, PROT_READ, MAP_PRIVATE, g.snapshot, 0);
        if (pager->source == MAP_FAILED)
            guest_lost(&g, "mmap");
        pager_register(pager, UFFDIO_REGISTER_MODE_MISSING);
        pager_start(pager);
    }
    guest_check(s, &g);
    guest_work(s, &g);
    pager_facts(s, pager);
    guest_rest(s, &g);
    pager_check(s, pager);
    PHASE(s, "end") {
        pager_stop(pager);
        guest_unmap(&g);
        if (munmap((void *)pager->source, g.bytes) != 0)
            guest_lost(&g, "munmap");
    }
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_huge, .experiment = "restore", .name = "uffd-huge",
       .summary = "userfaultfd over huge pages of the reserved pool: a thread answers each fault by UFFDIO_COPY of a whole one.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes", .needs = "huge-pages",
       .laws = FILE_LAWS "; private_bytes == served_pages * page_bytes; served_pages >= set_pages; "
               "private_bytes % huge_page_bytes == 0",
       .calls = PAGER_CALLS, .run = run);
