#include "restore.h"

#ifndef UFFD_FEATURE_MOVE /* Linux 6.8 */
#define UFFD_FEATURE_MOVE (1 << 16)
struct uffdio_move {
    uint64_t dst, src, len, mode;
    int64_t move;
};
#define UFFDIO_MOVE _IOWR(UFFDIO, 0x05, struct uffdio_move)
#endif

/* The page is read into memory of its own, which then becomes the guest's: nothing is copied twice. */
static bool move_in(struct pager *pager, uint64_t address)
{
    const struct guest *g = pager->g;
    struct uffdio_move move = {.dst = address, .src = (uintptr_t)pager->staging, .len = g->page};
    if (!read_all(g->snapshot, pager->staging, g->page, (size_t)(address - (uintptr_t)g->p)) ||
        ioctl(pager->u.descriptor, UFFDIO_MOVE, &move) != 0)
        return false;
    pager->served++;
    return true;
}

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, UFFD_FEATURE_MOVE, "Linux 6.8");
    pager->answer = move_in;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        pager->staging = mmap(NULL, g.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pager->staging == MAP_FAILED)
            guest_lost(&g, "mmap");
        pager_register(pager, UFFDIO_REGISTER_MODE_MISSING);
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
        if (munmap(pager->staging, g.page) != 0)
            guest_lost(&g, "munmap");
    }
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_move, .experiment = "restore", .name = "uffd-move",
       .summary = "userfaultfd: a thread reads each page into a staging page and moves that into place by UFFDIO_MOVE.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = PAGER_LAWS,
       .calls = PAGER_MAP " end:rt_sigaction,rt_sigprocmask?,tgkill?,getpid?,sched_yield?,futex?,close,munmap", .run = run);
