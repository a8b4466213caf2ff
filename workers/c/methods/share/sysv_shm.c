#include "share.h"
#include <sys/ipc.h>
#include <sys/shm.h>

static SHARED_BODY void run(struct slot *s, int huge)
{
    share_begin(s, huge ? share_check_huge(s) : NULL);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int id = -1;
    PHASE(s, "map") {
        id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | huge | 0600);
        if (id >= 0)
            p = shmat(id, at, 0);
    }
    const char *obstacle = NULL;
    if (id < 0)
        obstacle = huge && errno == ENOMEM  ? share_empty_pool(s)
                   : huge && errno == EPERM ? "not permitted: SHM_HUGETLB needs CAP_IPC_LOCK or a group named by "
                                              "sudo sysctl vm.hugetlb_shm_group=GID"
                                            : share_no_segment(s);
    int error = errno;
    if (id >= 0)
        check_done(s, shmctl(id, IPC_RMID, NULL), "shmctl"); /* it lives until the last detach */
    share_mapped(s, obstacle);
    errno = error;
    if (p == MAP_FAILED)
        fail(s, "shmat");
    tell(s, &id, sizeof id);
    share_proof(s, p, "/SYSV");
    share_use(s, p, NULL);
    int left;
    PHASE(s, "unmap") { left = shmdt(p); }
    check_done(s, left, "shmdt");
}

/* Linux lets a removed segment be attached for as long as somebody else still is. */
static void attach(struct seat *b)
{
    b->call = "shmat";
    b->p = shmat(b->id, b->at, 0);
}

static void detach(struct seat *b)
{
    b->left = shmdt(b->p);
}

static void run_b(struct slot *s, const char *obstacle)
{
    struct seat b = share_begin_b(s, obstacle);
    hear(s, &b.id, sizeof b.id);
    meet(s);
    share_second(s, &b, attach, detach);
}

static void segment(struct slot *s) { run(s, 0); }
static void segment_b(struct slot *s) { run_b(s, NULL); }
METHOD(share_sysv_shm, .experiment = "share", .name = "sysv-shm",
       .summary = "A System V segment: shmget, shmat; what AFL shares with its target.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .laws = SHARE_LAWS,
       .calls = "map:shmget,shmat attach:shmat populate:madvise,mlock? detach:shmdt unmap:shmdt",
       .run = segment, .run_b = segment_b);

static void huge_segment(struct slot *s) { run(s, SHM_HUGETLB); }
static void huge_segment_b(struct slot *s) { run_b(s, share_check_huge(s)); }
METHOD(share_sysv_huge, .experiment = "share", .name = "sysv-huge",
       .summary = "A System V segment from the reserved pool of huge pages (SHM_HUGETLB).",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .needs = "huge-pages",
       .laws = "huge_bytes == bytes; b.huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:shmget,shmat attach:shmat populate:madvise,mlock? detach:shmdt unmap:shmdt",
       .run = huge_segment, .run_b = huge_segment_b);
