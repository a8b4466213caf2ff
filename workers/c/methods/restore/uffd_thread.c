#include "paged.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.3");
    guest_paged(s, &g, pager, 0, NULL);
    guest_end(s, &g);
}

METHOD(restore_uffd_thread, .experiment = "restore", .name = "uffd-thread",
       .summary = "userfaultfd: a thread answers each fault by UFFDIO_COPY from a mapping of the snapshot.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " " PAGER_PIN_KEY, .memory = "clones * bytes",
       .laws = PAGER_LAWS PAGER_PIN_LAWS,
       .calls = PAGER_CALLS, .run = run);
