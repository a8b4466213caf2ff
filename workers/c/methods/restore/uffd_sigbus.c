#include "restore.h"
#include <signal.h>

#ifndef UFFD_FEATURE_SIGBUS
#define UFFD_FEATURE_SIGBUS (1 << 7)
#endif

static struct pager *serving;
static struct sigaction before;

/* The faulting thread supplies its own page. A fault elsewhere is not for this handler: it comes again, to the old one. */
static void supply(int number, siginfo_t *information, void *context)
{
    struct pager *pager = serving;
    uint64_t address = (uint64_t)(uintptr_t)information->si_addr & ~(uint64_t)(pager->g->page - 1);
    (void)context;
    if (address - (uintptr_t)pager->g->p >= pager->g->bytes)
        sigaction(number, &before, NULL);
    else if (!pager->answer(pager, address))
        pager_give_up(pager);
}

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, UFFD_FEATURE_SIGBUS, "Linux 4.14");
    struct sigaction action = {.sa_sigaction = supply, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    serving = pager;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        pager->source = mmap(NULL, g.bytes, PROT_READ, MAP_PRIVATE, g.snapshot, 0);
        if (pager->source == MAP_FAILED)
            guest_lost(&g, "mmap");
        pager_register(pager, UFFDIO_REGISTER_MODE_MISSING);
        if (sigaction(SIGBUS, &action, &before) != 0)
            guest_lost(&g, "sigaction");
    }
    guest_check(s, &g);
    guest_work(s, &g);
    pager_facts(s, pager);
    guest_rest(s, &g);
    pager_check(s, pager);
    PHASE(s, "end") {
        if (sigaction(SIGBUS, &before, NULL) != 0)
            guest_lost(&g, "sigaction");
        if (close(pager->u.descriptor) != 0)
            guest_lost(&g, "close");
        guest_unmap(&g);
        if (munmap((void *)pager->source, g.bytes) != 0)
            guest_lost(&g, "munmap");
    }
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_sigbus, .experiment = "restore", .name = "uffd-sigbus",
       .summary = "userfaultfd with SIGBUS: the faulting thread itself copies its page in a signal handler; nobody is woken.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = PAGER_LAWS,
       .calls = "map:mmap,ioctl,rt_sigaction first:ioctl,rt_sigreturn work:ioctl,rt_sigreturn rest:ioctl,rt_sigreturn end:rt_sigaction,close,munmap", .run = run);
