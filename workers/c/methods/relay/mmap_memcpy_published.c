#include "relay.h"
#include "../transfer/segment.h"

static void run(struct slot *s)
{
    int file = relay_file(s, NULL);
    size_t bytes = s->bytes;
    char *shared = segment(s), *p;
    pthread_mutex_t *lock = mutex(s);
    relay_ready(s, file);
    PHASE(s, "send") {
        p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
        if (p != MAP_FAILED)
            copy_pieces(shared, p, bytes);
        pthread_mutex_unlock(lock);
    }
    check_map(s, p);
    relay_sent(s, 1);
    munmap(p, bytes);
    munmap(lock, s->page_bytes);
    shmdt(shared);
}

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int file = to.file, cut = -1, error = 0;
    size_t bytes = s->bytes;
    char *shared = segment(s), *p = MAP_FAILED;
    pthread_mutex_t *lock = mutex(s);
    meet(s);
    PHASE(s, "receive") {
        error = pthread_mutex_lock(lock);
        cut = ftruncate(file, (off_t)bytes);
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (cut == 0 && p != MAP_FAILED)
            copy_pieces(p, shared, bytes);
        pthread_mutex_unlock(lock);
    }
    if (error || cut != 0)
        fail_because(s, "ftruncate", error ? "the other side ended" : strerror(errno));
    check_map(s, p);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, 2);
    munmap(p, bytes);
    munmap(lock, s->page_bytes);
    shmdt(shared);
}

METHOD(relay_mmap_memcpy_published, .experiment = "relay", .name = "mmap-memcpy-published", .role = "published",
       .summary = "The P2c job as published: a maps the file and copies it into a System V segment, then b copies that into a mapping of a new file, 4096 bytes at a time; a mutex orders the two, which the original left out.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "3 * bytes",
       .laws = FILE_SINK_LAWS "; send.minor_faults >= bytes / page_bytes; receive.minor_faults >= bytes / page_bytes / 16",
       .calls = "send:mmap,futex? receive:ftruncate,mmap,futex? write-back:fdatasync?", .run = run, .run_b = run_b);
