#include "restore.h"

/* One read of all pages of the set, then a copy for each run of them. */
static void prefetch(struct pager *pager, char *pages)
{
    struct guest *g = pager->g;
    if (!read_all(g->compact, pages, g->count * g->page, 0)) {
        guest_lost(g, "pread");
        return;
    }
    for (size_t at = 0, run; at < g->count; at += run) {
        run = set_run(g, at);
        long copied = copy_pages(pager, (uintptr_t)g->p + g->set[at] * g->page, pages + at * g->page, run * g->page);
        if (copied < 0) {
            guest_lost(g, "ioctl UFFDIO_COPY");
            return;
        }
        pager->prefetched += (uint64_t)copied;
    }
}

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT_AND_SET);
    struct pager *pager = pager_open(s, &g, 0, "Linux 4.3");
    size_t set_bytes = g.count * g.page;
    char *pages = NULL;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        pager->source = mmap(NULL, g.bytes, PROT_READ, MAP_PRIVATE, g.snapshot, 0);
        if (pager->source == MAP_FAILED)
            guest_lost(&g, "mmap");
        pager_register(pager, UFFDIO_REGISTER_MODE_MISSING);
        pages = mmap(NULL, set_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            guest_lost(&g, "mmap");
        if (!g.failed)
            prefetch(pager, pages);
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
        if (munmap((void *)pager->source, g.bytes) != 0)
            guest_lost(&g, "munmap");
        if (munmap(pages, set_bytes) != 0)
            guest_lost(&g, "munmap");
    }
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_reap, .experiment = "restore", .name = "reap",
       .summary = "One pread() of a file that has the recorded set only, UFFDIO_COPY by runs, then userfaultfd for the rest (REAP).",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = PAGER_LAWS "; prefetched_pages == set_pages",
       .calls = PAGER_MAP ",pread64 end:rt_sigaction,rt_sigprocmask?,tgkill?,getpid?,sched_yield?,futex?,close,munmap", .run = run);
