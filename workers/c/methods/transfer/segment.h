/* A fresh System V segment of the block's size and the mutex that orders its two sides, for the jobs as published. */
#ifndef PAGEWISE_SEGMENT_H
#define PAGEWISE_SEGMENT_H
#include "shared.h"
#include <pthread.h>
#include <sys/shm.h>

/* The segment, as long as the block; nobody has touched it. It has no name and goes with its last user: side b attaches what
 * is marked as removed already. */
static inline char *segment(struct slot *s)
{
    int id = -1;
    char *p = (void *)-1;
    const char *obstacle = NULL;
    if (s->role == 'a' && (id = shmget(IPC_PRIVATE, s->bytes, IPC_CREAT | 0600)) < 0)
        obstacle = refused("shmget", "kernel.shmmax, kernel.shmall and kernel.shmmni limit segments");
    if (id >= 0) {
        p = shmat(id, NULL, 0);
        obstacle = p == (void *)-1 ? refused("shmat", "the segment was made and could not be attached") : NULL;
        check_done(s, shmctl(id, IPC_RMID, NULL), "shmctl");
    }
    agree(s, obstacle);
    if (s->role == 'a') {
        tell(s, &id, sizeof id);
    } else {
        hear(s, &id, sizeof id);
        p = shmat(id, NULL, 0);
        if (p == (void *)-1)
            fail(s, "shmat");
    }
    return p;
}

/* The mutex orders the sides: a has it before the clocks start and unlocks when it has copied. */
static inline pthread_mutex_t *mutex(struct slot *s)
{
    int descriptor;
    pthread_mutex_t *lock = (pthread_mutex_t *)shared_open(s, s->page_bytes, &descriptor);
    close(descriptor);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST); /* so that b need not wait for an a that died */
    if (s->role == 'a') {
        pthread_mutex_init(lock, &kind);
        pthread_mutex_lock(lock);
    }
    return lock;
}

enum { SEGMENT_PIECE_BYTES = 4096 };
static inline void copy_pieces(char *to, const char *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += SEGMENT_PIECE_BYTES)
        memcpy(to + done, from + done, bytes - done < SEGMENT_PIECE_BYTES ? bytes - done : SEGMENT_PIECE_BYTES);
}
#endif
