#include "published.h"
#include "segment.h"

static void run(struct slot *s)
{
    size_t page = s->page_bytes, bytes = s->bytes, touched = key_is(s, "segment", "touched") ? bytes : 0;
    char *shared = segment(s), *p = published_source(s);
    pthread_mutex_t *lock = mutex(s);
    PHASE(s, "fault-channel") { touch_all(shared, touched, page); }
    meet(s);
    meet(s); /* b has looked at it */
    PHASE(s, "send") {
        copy_pieces(shared, p, bytes);
        pthread_mutex_unlock(lock);
    }
    transfer_sent(s, p, 0, present_bytes(s, shared, bytes));
    munmap(lock, page);
    shmdt(shared);
}

static void run_b(struct slot *s)
{
    size_t bytes = s->bytes;
    char *shared = segment(s);
    char *p = published_target(s);
    pthread_mutex_t *lock = mutex(s);
    int error = 0;
    meet(s);
    for (size_t at = 0; key_is(s, "segment", "touched") && at < bytes; at += s->page_bytes)
        (void)((volatile char *)shared)[at];
    meet(s);
    PHASE(s, "receive") {
        error = pthread_mutex_lock(lock);
        copy_pieces(p, shared, bytes);
        pthread_mutex_unlock(lock);
    }
    if (error)
        fail_because(s, "pthread_mutex_lock", came_so_far("the other side ended", 0, bytes));
    transfer_received(s, p, 0, 0);
    munmap(lock, s->page_bytes);
    shmdt(shared);
}

METHOD(transfer_shm_memcpy_published, .experiment = "transfer", .name = "shm-memcpy-published", .role = "published",
       .summary = "The P2 job as published: under a mutex a copies the whole block into a fresh System V segment, then b copies it out into a malloc'ed block that was never touched, 4096 bytes at a time.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS " segment:fresh|touched", .memory = "3 * bytes",
       .laws = PUBLISHED_LAWS "; segment=fresh: send.minor_faults >= (bytes + page_bytes - 1) / page_bytes; "
                              "segment=fresh: fault-channel.minor_faults == 0; segment=touched: send.minor_faults <= 2; "
                              "segment=touched & block=resident: receive.minor_faults <= 2",
       .calls = "send:futex? receive:futex?", .run = run, .run_b = run_b);
