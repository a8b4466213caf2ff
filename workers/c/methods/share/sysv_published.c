#include "published.h"
#include <sys/ipc.h>
#include <sys/shm.h>

static void run(struct slot *s)
{
    share_begin_alone(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int id = -1;
    PHASE(s, "map") {
        id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        if (id >= 0)
            p = shmat(id, at, 0);
    }
    const char *obstacle = id < 0 ? share_no_segment(s) : NULL;
    if (obstacle)
        skip(s, obstacle);
    int error = errno;
    check_done(s, shmctl(id, IPC_RMID, NULL), "shmctl"); /* it lives until the last detach, also if this process is killed */
    errno = error;
    if (p == MAP_FAILED)
        fail(s, "shmat");
    share_proof(s, p, "/SYSV");
    published_write(s, p, -1);
    int left;
    PHASE(s, "unmap") { left = shmdt(p); }
    check_done(s, left, "shmdt");
}

/* Nothing writes a segment back, so its faults are first touches and no more. */
METHOD(share_sysv_published, .experiment = "share", .name = "sysv-published", .role = "published", .group = "published",
       .summary = "The P1 job as published: a System V segment, untouched before, and rand() % size in the loop.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS, .memory = "bytes + bytes / 8",
       .laws = "random-write.minor_faults <= touched_pages; random-write.minor_faults >= 1; " PUBLISHED_LAWS,
       .calls = "map:shmget,shmat unmap:shmdt", .isolation = "own", .run = run);
