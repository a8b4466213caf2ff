#include "paged.h"

enum { DRAIN_BYTES = 1 << 20 };
static struct pager *draining;
static _Atomic uint64_t drained;

/* Pages that are there already are left out. */
static void drain(const struct part *part)
{
    struct pager *pager = draining;
    char *end = part->start + part->bytes;
    for (char *at = part->start; at < end && !pager->error;) {
        size_t bytes = end - at < DRAIN_BYTES ? (size_t)(end - at) : DRAIN_BYTES;
        long pages = copy_pages(pager, (uintptr_t)at, pager->source + (at - pager->g->p), bytes);
        if (pages < 0)
            pager_give_up(pager);
        drained += pages > 0 ? (uint64_t)pages : 0;
        at += bytes;
    }
}

static void run(struct slot *s)
{
    if (key_size(s, "clones") > 1)
        skip(s, "the threads that drain need CPUs besides those of other clones: clones=1");
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = draining = pager_open(s, &g, 0, "Linux 4.3");
    drained = 0;
    guest_paged(s, &g, pager, 0, drain);
    fact(s, "drained_pages", drained);
    guest_end(s, &g);
}

METHOD(restore_uffd_drain, .experiment = "restore", .name = "uffd-drain",
       .summary = "userfaultfd: a thread answers each fault; when the work is done, several threads copy all that is left.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " threads:count", .memory = "clones * bytes",
       .laws = PAGER_LAWS "; drained_pages + set_pages == bytes / page_bytes; " THREADS_LAWS,
       .calls = PAGER_CALLS " rest:ioctl", .run = run);
