#include "transfer.h"
#include "shared.h"
#include <pthread.h>

/* The mutex has a page of its own before the block, which is as large as what is sent. */
static void copy_under(pthread_mutex_t *lock, char *to, const char *from, size_t bytes, size_t chunk)
{
    pthread_mutex_lock(lock);
    for (size_t done = 0; done < bytes; done += chunk)
        memcpy(to + done, from + done, bytes - done < chunk ? bytes - done : chunk);
    pthread_mutex_unlock(lock);
}

/* Whether the segment's pages were there before is not told; it decides most of what the send costs. */
static char *segment(struct slot *s, int *descriptor)
{
    size_t page = s->page_bytes, size = page + s->bytes;
    char *shared = shared_open(s, size, descriptor);
    if (key_is(s, "segment", "touched"))
        for (size_t at = 0; at < size; at += page)
            ((volatile char *)shared)[at] |= 0;
    return shared;
}

static void run(struct slot *s)
{
    size_t page = s->page_bytes, bytes = s->bytes, chunk = key_size(s, "chunk");
    int descriptor;
    char *shared = segment(s, &descriptor), *p = transfer_source(s);
    pthread_mutex_t *lock = (pthread_mutex_t *)shared;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(lock, &kind);
    meet(s);
    PHASE(s, "send") { copy_under(lock, shared + page, p, bytes, chunk); }
    meet(s);
    transfer_sent(s, p, 0, shared_memory_bytes(descriptor));
    munmap(shared, page + bytes);
    close(descriptor);
}

static void run_b(struct slot *s)
{
    size_t page = s->page_bytes, bytes = s->bytes, chunk = key_size(s, "chunk");
    int descriptor;
    char *shared = segment(s, &descriptor), *p = transfer_target(s);
    close(descriptor);
    meet(s);
    meet(s); /* a has unlocked: what b waits for is no part of b's own cost */
    PHASE(s, "receive") { copy_under((pthread_mutex_t *)shared, p, shared + page, bytes, chunk); }
    transfer_received(s, p, 0, 0);
    munmap(shared, page + bytes);
}

METHOD(transfer_shm_memcpy_published, .experiment = "transfer", .name = "shm-memcpy-published", .role = "published",
       .summary = "The P2 job as published: a locks, copies the whole block into shared memory, unlocks; then b locks and copies it out.",
       .phases = TRANSFER_PHASES, .keys = "bytes:size chunk:size segment:fresh|touched", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS "; segment=fresh: send.minor_faults >= (bytes + page_bytes - 1) / page_bytes; "
                            "segment=touched: send.minor_faults == 0; segment=touched: receive.minor_faults == 0",
       .calls = "", .run = run, .run_b = run_b);
