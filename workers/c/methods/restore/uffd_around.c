#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.3");
    pager->around = key_size(s, "around");
    if (pager->around % g.page != 0)
        skip(s, "around is not a multiple of the page size");
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
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

METHOD(restore_uffd_around, .experiment = "restore", .name = "uffd-around",
       .summary = "userfaultfd: a thread answers each fault by UFFDIO_COPY of `around` bytes, the page and its neighbours.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " around:size", .memory = "clones * bytes",
       .laws = FILE_LAWS "; served_pages >= set_pages; private_bytes == served_pages * page_bytes",
       .calls = PAGER_CALLS, .run = run);
