/* Each fdatasync() makes the dirty pages clean and write-protects them, so that the next store into each is a fault: the
 * cost that a mapped file on a disk has and shared memory has not. */
#include "writeback.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
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

/* A number behind its name in a small file of /proc; 0 where there is none. */
static uint64_t proc_number(const char *path, const char *format)
{
    char line[128];
    unsigned long long value = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, format, &value) != 1)
        ;
    if (file)
        fclose(file);
    return value;
}

/* The kernel counts a page for a process when it makes it dirty that was clean. What was dirty before and is counted had been
 * written back in between. */
static uint64_t dirtied_bytes(void)
{
    return proc_number("/proc/self/io", "write_bytes: %llu");
}

static uint64_t written_bytes(const struct slot *s)
{
    return proc_number("/proc/vmstat", "nr_written %llu") * s->page_bytes;
}

/* Dirty bytes of the file; no fact where nothing tells. */
static void dirty_fact(struct slot *s, int fd, const char *name)
{
    struct file_pages pages;
    if (file_pages(s, fd, &pages))
        fact(s, name, pages.dirty);
}

static uint64_t dirtied_before, written_before;

void writeback_start(struct slot *s, int fd)
{
    static int descriptor;
    bool periodic = key_is(s, "writeback", "periodic");
    descriptor = fd;
    atomic_store(&stop, false);
    atomic_store(&syncs, 0);
    atomic_store(&error, 0);
    dirty_fact(s, fd, "dirty_before_bytes");
    if (periodic && (errno = pthread_create(&thread, NULL, write_back, &descriptor)) != 0)
        fail(s, "pthread_create");
    while (periodic && !atomic_load(&syncs))
        nanosleep(&(struct timespec){0, 100000}, NULL);
    written_before = written_bytes(s);
    dirtied_before = dirtied_bytes();
}

uint64_t writeback_stop(struct slot *s, int fd)
{
    uint64_t dirtied = dirtied_bytes() - dirtied_before;
    fact(s, "system_written_bytes", written_bytes(s) - written_before);
    dirty_fact(s, fd, "dirty_after_bytes");
    if (!key_is(s, "writeback", "periodic"))
        return dirtied;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    fact(s, "syncs", atomic_load(&syncs) - 1); /* the first was done before random-write began */
    if ((errno = atomic_load(&error)) != 0)
        fail(s, "fdatasync");
    return dirtied;
}
