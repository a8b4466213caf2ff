#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, NO_FILE);
    struct pager *pager = pager_open(s, &g, UFFD_FEATURE_MINOR_SHMEM, "Linux 5.14");
    int file = filled_memory_file(s, &g, 0);
    pager->answer = go_on;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE, file);
        pager_register(pager, UFFDIO_REGISTER_MODE_MINOR);
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
    }
    close(file);
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_continue, .experiment = "restore", .name = "uffd-continue",
       .summary = "userfaultfd over a private mapping of a memory file with the snapshot: a thread lets each page in by UFFDIO_CONTINUE.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = RESTORE_LAWS "; served_pages == set_pages; private_bytes == written_pages * page_bytes",
       .calls = PAGER_CALLS, .run = run);
