#include "paged.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, NO_FILE);
    struct pager *pager = pager_open(s, &g, UFFD_FEATURE_MINOR_SHMEM, "Linux 5.14");
    int file = filled_memory_file(s, &g, 0);
    pager->answer = go_on;
    guest_let_in(s, &g, pager, file);
    guest_end(s, &g);
}

METHOD(restore_uffd_continue, .experiment = "restore", .name = "uffd-continue",
       .summary = "userfaultfd over a private mapping of a memory file with the snapshot: a thread lets each page in by UFFDIO_CONTINUE.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = RESTORE_LAWS "; served_pages == set_pages; private_bytes == written_pages * page_bytes",
       .calls = PAGER_CALLS, .run = run);
