#include "restore.h"

static pthread_t loading;
static _Atomic int error;

/* The set's pages lie one after another in their own file: they are read in order while the guest runs. */
static void *load(void *argument)
{
    const struct guest *g = argument;
    for (size_t at = 0, pages; at < g->count; at += pages) {
        pages = set_run(g, at);
        if (madvise(g->p + g->set[at] * g->page, pages * g->page, MADV_POPULATE_READ) != 0) {
            error = errno;
            break;
        }
    }
    return NULL;
}

static void map_set(struct guest *g)
{
    for (size_t at = 0, pages; at < g->count && !g->failed; at += pages) {
        pages = set_run(g, at);
        if (mmap(g->p + g->set[at] * g->page, pages * g->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, g->compact,
                 (off_t)(at * g->page)) == MAP_FAILED)
            guest_lost(g, "mmap");
    }
}

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT_AND_SET);
    unsigned long long mappings = 2 * g.count / key_size(s, "run") + 1000;
    if (mappings > number_in("/proc/sys/vm/max_map_count", 65530))
        skip(s, arena_text("the set has more runs than mappings are allowed: sudo sysctl vm.max_map_count=%llu", mappings));
    error = 0;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE, g.snapshot);
        if (!g.failed)
            map_set(&g);
        if (!g.failed && (errno = pthread_create(&loading, NULL, load, &g)) != 0)
            guest_lost(&g, "pthread_create");
    }
    guest_check(s, &g);
    guest_work(s, &g);
    pthread_join(loading, NULL);
    errno = error;
    check_done(s, error != 0, "madvise");
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    guest_end(s, &g);
}

METHOD(restore_faasnap, .experiment = "restore", .name = "faasnap",
       .summary = "A file with the recorded set mapped over the snapshot, run by run, and populated by a second thread while the guest runs.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap,mprotect?,rt_sigprocmask,clone3?,clone?,madvise? end:munmap", .run = run);
