#include "paged.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.3");
    pager->around = key_size(s, "around");
    if (pager->around % g.page != 0)
        skip(s, "around is not a multiple of the page size");
    guest_paged(s, &g, pager, 0, NULL);
    guest_end(s, &g);
}

METHOD(restore_uffd_around, .experiment = "restore", .name = "uffd-around",
       .summary = "userfaultfd: a thread answers each fault by UFFDIO_COPY of `around` bytes, the page and its neighbours.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " around:size", .memory = "clones * bytes",
       .laws = FILE_LAWS "; served_pages >= set_pages; private_bytes == served_pages * page_bytes",
       .calls = PAGER_CALLS, .run = run);
