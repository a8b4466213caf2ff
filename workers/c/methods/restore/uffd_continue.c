#include "paged.h"

static void run(struct slot *s, bool huge)
{
    struct guest g = guest_begin(s, NO_FILE);
    struct pager *pager = huge ? pager_open(s, &g, UFFD_FEATURE_MINOR_HUGETLBFS, "Linux 5.13")
                               : pager_open(s, &g, UFFD_FEATURE_MINOR_SHMEM, "Linux 5.14");
    if (huge)
        need_pool(s, 2 * g.bytes);
    int file = filled_memory_file(s, &g, huge ? MFD_HUGETLB : 0);
    if (huge)
        pager->around = s->huge_page_bytes;
    pager->answer = go_on;
    guest_let_in(s, &g, pager, file);
    guest_end(s, &g);
}

static void base_pages(struct slot *s) { run(s, false); }
METHOD(restore_uffd_continue, .experiment = "restore", .name = "uffd-continue",
       .summary = "userfaultfd over a private mapping of a memory file with the snapshot: a thread lets each page in by UFFDIO_CONTINUE.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = RESTORE_LAWS "; served_pages == set_pages; private_bytes == written_pages * page_bytes",
       .calls = PAGER_CALLS, .run = base_pages);

static void huge_pages(struct slot *s) { run(s, true); }
METHOD(restore_uffd_continue_huge, .experiment = "restore", .name = "uffd-continue-huge",
       .summary = "userfaultfd over a private mapping of a memory file of huge pages with the snapshot: UFFDIO_CONTINUE lets each in.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "2 * clones * bytes", .needs = "huge-pages",
       .laws = RESTORE_LAWS "; served_pages >= set_pages; access=reads: private_bytes == 0; "
               "access=mixed: private_bytes >= written_pages * page_bytes; private_bytes % huge_page_bytes == 0",
       .calls = PAGER_CALLS, .run = huge_pages);
