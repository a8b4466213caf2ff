#include "share.h"
#include <sys/ipc.h>
#include <sys/shm.h>

static void run(struct slot *s)
{
    share_begin(s, NULL);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int id = -1;
    PHASE(s, "map") {
        id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        if (id >= 0)
            p = shmat(id, at, 0);
    }
    const char *obstacle = id < 0 ? share_no_segment(s) : NULL;
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

static void run_b(struct slot *s)
{
    struct seat b = share_begin_b(s, NULL);
    hear(s, &b.id, sizeof b.id);
    meet(s);
    share_second(s, &b, attach, detach);
}

METHOD(share_sysv_shm, .experiment = "share", .name = "sysv-shm",
       .summary = "A System V segment: shmget, shmat; what AFL shares with its target.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .laws = SHARE_LAWS,
       .calls = "map:shmget,shmat attach:shmat populate:madvise,mlock? detach:shmdt unmap:shmdt",
       .run = run, .run_b = run_b);
