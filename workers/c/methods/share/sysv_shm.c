#include "share.h"
#include <sys/ipc.h>
#include <sys/shm.h>

static void run(struct slot *s)
{
    share_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int id = -1;
    PHASE(s, "map") {
        id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        if (id >= 0)
            p = shmat(id, at, 0);
    }
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

METHOD(share_sysv_shm, .experiment = "share", .name = "sysv-shm",
       .summary = "A System V segment: shmget, shmat; what AFL shares with its target.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .laws = SHARE_LAWS,
       .calls = "map:shmget,shmat unmap:shmdt", .run = run);
