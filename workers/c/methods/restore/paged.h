/* The lives of guests whose missing pages a thread copies in, or lets in. */
#ifndef PAGEWISE_RESTORE_PAGED_H
#define PAGEWISE_RESTORE_PAGED_H
#include "restore.h"

/* All phases, from map to end, with a mapping of the snapshot to copy from. `flags` are mmap's beside MAP_PRIVATE and
 * MAP_ANONYMOUS; `rest` is the phase's work by several threads, NULL for the guest's own. */
static inline void guest_paged(struct slot *s, struct guest *g, struct pager *pager, int flags,
                               void (*rest)(const struct part *))
{
    PHASE(s, "map") {
        guest_map(g, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1);
        pager->source = mmap(NULL, g->bytes, PROT_READ, MAP_PRIVATE, g->snapshot, 0);
        if (pager->source == MAP_FAILED)
            guest_lost(g, "mmap");
        pager_register(pager, UFFDIO_REGISTER_MODE_MISSING);
        pager_start(pager);
    }
    guest_check(s, g);
    guest_work(s, g);
    pager_facts(s, pager);
    if (rest)
        guest_rest_by(s, g, rest);
    else
        guest_rest(s, g);
    pager_check(s, pager);
    PHASE(s, "end") {
        pager_stop(pager);
        guest_unmap(g);
        if (munmap((void *)pager->source, g->bytes) != 0)
            guest_lost(g, "munmap");
    }
    munmap(pager, sizeof *pager);
}

/* The same over a private mapping of `file`, which holds the snapshot: the thread lets each page in. */
static inline void guest_let_in(struct slot *s, struct guest *g, struct pager *pager, int file)
{
    PHASE(s, "map") {
        guest_map(g, MAP_PRIVATE, file);
        pager_register(pager, UFFDIO_REGISTER_MODE_MINOR);
        pager_start(pager);
    }
    guest_check(s, g);
    guest_work(s, g);
    pager_facts(s, pager);
    guest_rest(s, g);
    pager_check(s, pager);
    PHASE(s, "end") {
        pager_stop(pager);
        guest_unmap(g);
    }
    close(file);
    munmap(pager, sizeof *pager);
}
#endif
