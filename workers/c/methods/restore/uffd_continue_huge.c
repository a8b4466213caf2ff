#include "paged.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, NO_FILE);
    struct pager *pager = pager_open(s, &g, UFFD_FEATURE_MINOR_HUGETLBFS, "Linux 5.13");
    need_pool(s, 2 * g.bytes);
    int file = filled_memory_file(s, &g, MFD_HUGETLB);
    pager->around = s->huge_page_bytes;
    pager->answer = go_on;
    guest_let_in(s, &g, pager, file);
    guest_end(s, &g);
}

METHOD(restore_uffd_continue_huge, .experiment = "restore", .name = "uffd-continue-huge",
       .summary = "userfaultfd over a private mapping of a memory file of huge pages with the snapshot: UFFDIO_CONTINUE lets each in.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "2 * clones * bytes", .needs = "huge-pages",
       .laws = RESTORE_LAWS "; served_pages >= set_pages; access=reads: private_bytes == 0; "
               "access=mixed: private_bytes >= written_pages * page_bytes; private_bytes % huge_page_bytes == 0",
       .calls = PAGER_CALLS, .run = run);
