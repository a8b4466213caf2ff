#include "restore.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* The other process copies into the memory whose descriptor it has inherited, as a pager of microVMs does. */
static void start(struct pager *pager)
{
    pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pager_serve(pager);
        _exit(1);
    }
    pager->u.process = process;
    if (process < 0)
        guest_lost(pager->g, "fork");
}

static void stop(struct pager *pager)
{
    int status;
    kill(pager->u.process, SIGKILL);
    while (waitpid(pager->u.process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (close(pager->u.descriptor) != 0)
        guest_lost(pager->g, "close");
}

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.3");
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        pager->source = mmap(NULL, g.bytes, PROT_READ, MAP_PRIVATE, g.snapshot, 0);
        if (pager->source == MAP_FAILED)
            guest_lost(&g, "mmap");
        pager_register(pager, UFFDIO_REGISTER_MODE_MISSING);
        if (!g.failed)
            start(pager);
    }
    guest_check(s, &g);
    guest_work(s, &g);
    pager_facts(s, pager);
    guest_rest(s, &g);
    pager_check(s, pager);
    PHASE(s, "end") {
        stop(pager);
        guest_unmap(&g);
        if (munmap((void *)pager->source, g.bytes) != 0)
            guest_lost(&g, "munmap");
    }
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_process, .experiment = "restore", .name = "uffd-process",
       .summary = "userfaultfd: another process answers each fault by UFFDIO_COPY from its mapping of the snapshot.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS " " PAGER_PIN_KEY, .memory = "clones * bytes",
       .laws = RESTORE_LAWS "; served_pages == set_pages; private_bytes == set_pages * page_bytes" PAGER_PIN_LAWS,
       .calls = "map:mmap,ioctl,clone end:kill,wait4,close,munmap", .run = run);
