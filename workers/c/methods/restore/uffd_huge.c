#include "paged.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.11");
    need_pool(s, g.bytes);
    pager->around = s->huge_page_bytes;
    guest_paged(s, &g, pager, MAP_HUGETLB, NULL);
    guest_end(s, &g);
}

METHOD(restore_uffd_huge, .experiment = "restore", .name = "uffd-huge",
       .summary = "userfaultfd over huge pages of the reserved pool: a thread answers each fault by UFFDIO_COPY of a whole one.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes", .needs = "huge-pages",
       .laws = FILE_LAWS "; private_bytes == served_pages * page_bytes; served_pages >= set_pages; "
               "private_bytes % huge_page_bytes == 0",
       .calls = PAGER_CALLS, .run = run);
