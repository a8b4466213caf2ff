#include "restore.h"

#ifndef UFFD_FEATURE_MINOR_SHMEM /* Linux 5.13, 5.14 for shared memory */
#define UFFD_FEATURE_MINOR_SHMEM (1 << 10)
#define UFFDIO_REGISTER_MODE_MINOR ((uint64_t)1 << 2)
#define UFFDIO_CONTINUE _IOWR(UFFDIO, 0x07, struct uffdio_continue)
struct uffdio_continue {
    struct uffdio_range range;
    uint64_t mode;
    int64_t mapped;
};
#endif

static bool go_on(struct pager *pager, uint64_t address)
{
    struct uffdio_continue there = {.range = {address, pager->g->page}};
    if (ioctl(pager->u.descriptor, UFFDIO_CONTINUE, &there) != 0)
        return errno == EEXIST && ioctl(pager->u.descriptor, UFFDIO_WAKE, &there.range) == 0;
    pager->served++;
    return true;
}

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, NO_FILE);
    struct pager *pager = pager_open(s, &g, UFFD_FEATURE_MINOR_SHMEM, "Linux 5.14");
    int file = filled_memory_file(s, &g);
    pager->answer = go_on;
    PHASE(s, "map") {
        guest_map(&g, MAP_PRIVATE, file);
        pager_register(pager, UFFDIO_REGISTER_MODE_MINOR);
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
    }
    close(file);
    munmap(pager, sizeof *pager);
    guest_end(s, &g);
}

METHOD(restore_uffd_continue, .experiment = "restore", .name = "uffd-continue",
       .summary = "userfaultfd over a private mapping of a memory file with the snapshot: a thread lets each page in by UFFDIO_CONTINUE.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = RESTORE_LAWS "; served_pages == set_pages; private_bytes == written_pages * page_bytes",
       .calls = PAGER_CALLS, .run = run);
