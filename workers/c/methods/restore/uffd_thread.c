#include "paged.h"

static SHARED_BODY void run(struct slot *s, size_t around, int flags)
{
    bool huge = flags & MAP_HUGETLB;
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, huge ? "Linux 4.11" : "Linux 4.3");
    if (huge)
        need_pool(s, g.bytes);
    if (around)
        pager->around = around;
    if (pager->around % g.page != 0)
        skip(s, "around is not a multiple of the page size");
    guest_paged(s, &g, pager, flags, NULL);
    guest_end(s, &g);
}

static void one_page(struct slot *s) { run(s, 0, 0); }
METHOD(restore_uffd_thread, .experiment = "restore", .name = "uffd-thread",
       .summary = "userfaultfd: a thread answers each fault by UFFDIO_COPY from a mapping of the snapshot.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " " PAGER_PIN_KEY, .memory = "clones * bytes",
       .laws = PAGER_LAWS PAGER_PIN_LAWS,
       .calls = PAGER_CALLS, .run = one_page);

static void around(struct slot *s) { run(s, key_size(s, "around"), 0); }
METHOD(restore_uffd_around, .experiment = "restore", .name = "uffd-around",
       .summary = "userfaultfd: a thread answers each fault by UFFDIO_COPY of `around` bytes, the page and its neighbours.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " around:size", .memory = "clones * bytes",
       .laws = FILE_LAWS "; served_pages >= set_pages; private_bytes == served_pages * page_bytes",
       .calls = PAGER_CALLS, .run = around);

static void huge_page(struct slot *s) { run(s, s->huge_page_bytes, MAP_HUGETLB); }
METHOD(restore_uffd_huge, .experiment = "restore", .name = "uffd-huge",
       .summary = "userfaultfd over huge pages of the reserved pool: a thread answers each fault by UFFDIO_COPY of a whole one.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes", .needs = "huge-pages",
       .laws = FILE_LAWS "; private_bytes == served_pages * page_bytes; served_pages >= set_pages; "
               "private_bytes % huge_page_bytes == 0",
       .calls = PAGER_CALLS, .run = huge_page);
