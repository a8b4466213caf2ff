/* Each fdatasync() makes the dirty pages clean and write-protects them, so that the next store into each is a fault: the
 * cost that a mapped file on a disk has and shared memory has not. */
#include "writeback.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { PAUSE_NS = 1000000 };
static pthread_t thread;
static atomic_bool stop;
static atomic_ulong syncs;
static atomic_int error;

static void *write_back(void *argument)
{
    int fd = *(int *)argument;
    while (!atomic_load(&stop)) {
        if (fdatasync(fd) != 0)
            atomic_store(&error, errno);
        atomic_fetch_add(&syncs, 1);
        struct timespec pause = {0, PAUSE_NS};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void writeback_start(struct slot *s, int fd)
{
    static int descriptor;
    if (!key_is(s, "writeback", "periodic"))
        return;
    descriptor = fd;
    atomic_store(&stop, false);
    atomic_store(&syncs, 0);
    atomic_store(&error, 0);
    if ((errno = pthread_create(&thread, NULL, write_back, &descriptor)) != 0)
        fail(s, "pthread_create");
    while (!atomic_load(&syncs))
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

void writeback_stop(struct slot *s)
{
    if (!key_is(s, "writeback", "periodic"))
        return;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    fact(s, "syncs", atomic_load(&syncs) - 1); /* the first was done before random-write began */
    if ((errno = atomic_load(&error)) != 0)
        fail(s, "fdatasync");
}
