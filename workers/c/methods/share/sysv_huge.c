#include "share.h"
#include <sys/ipc.h>
#include <sys/shm.h>

static void run(struct slot *s)
{
    share_check_huge(s);
    share_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int id = -1;
    PHASE(s, "map") {
        id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_HUGETLB | 0600);
        if (id >= 0)
            p = shmat(id, at, 0);
    }
    if (id < 0 && errno == ENOMEM)
        share_skip_pool(s);
    if (id < 0 && errno == EPERM)
        skip(s, "not permitted: SHM_HUGETLB needs CAP_IPC_LOCK or a group named by sudo sysctl vm.hugetlb_shm_group=GID");
    if (id < 0)
        share_no_segment(s);
    int error = errno;
    shmctl(id, IPC_RMID, NULL); /* it lives until the last detach, also if this process is killed */
    errno = error;
    if (p == MAP_FAILED)
        fail(s, "shmat");
    share_proof(s, p, "/SYSV");
    share_use(s, p);
    PHASE(s, "unmap") { shmdt(p); }
}

METHOD(share_sysv_huge, .experiment = "share", .name = "sysv-huge",
       .summary = "A System V segment from the reserved pool of huge pages (SHM_HUGETLB).",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .needs = "huge-pages",
       .laws = "huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:shmget,shmat unmap:shmdt", .run = run);
