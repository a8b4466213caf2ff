#include "restore.h"

static pthread_t replaying;

/* The recorded set, run by run, while the guest runs. */
static void *replay(void *argument)
{
    struct pager *pager = argument;
    const struct guest *g = pager->g;
    for (size_t at = 0, pages; at < g->count && !pager->error; at += pages) {
        size_t offset = g->set[at] * g->page;
        pages = set_run(g, at);
        long copied = copy_pages(pager, (uintptr_t)g->p + offset, pager->source + offset, pages * g->page);
        if (copied < 0) {
            pager_give_up(pager);
            break;
        }
        pager->prefetched += (uint64_t)copied;
    }
    return NULL;
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
        pager_start(pager);
        if (!g.failed && (errno = pthread_create(&replaying, NULL, replay, pager)) != 0)
            guest_lost(&g, "pthread_create");
    }
    guest_check(s, &g);
    guest_work(s, &g);
    pthread_join(replaying, NULL); /* both have counted to the end then */
    pager_facts(s, pager);
    guest_rest(s, &g);
    pager_check(s, pager);
    PHASE(s, "end") {
        pager_stop(pager);
        guest_unmap(&g);
        if (munmap((void *)pager->source, g.bytes) != 0)
            guest_lost(&g, "munmap");
    }
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_replay, .experiment = "restore", .name = "uffd-replay",
       .summary = "userfaultfd: a second thread copies the recorded set while the guest runs, a first one answers what comes before.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = PAGER_LAWS,
       .calls = PAGER_CALLS, .run = run);
