#include "ring.h"
#include <fcntl.h>
#include <stdio.h>

/* The payload is written before its turn and read after it. */
static bool ring_send(struct link *l)
{
    char *slot = ring_slot(l->ring_out, l->turn_out, l->bytes);
    memcpy(slot, l->message, l->bytes);
    __atomic_store_n((uint64_t *)(slot + ring_turn_at(l->bytes)), ++l->turn_out, __ATOMIC_RELEASE);
    return true;
}

static bool ring_receive(struct link *l)
{
    char *slot = ring_slot(l->ring_in, l->turn_in++, l->bytes);
    uint64_t *turn = (uint64_t *)(slot + ring_turn_at(l->bytes));
    unsigned tries = 0;
    while (__atomic_load_n(turn, __ATOMIC_ACQUIRE) != l->turn_in)
        if (!tried(&tries, TRIES_IN_MEMORY))
            return false;
    memcpy(l->message, slot, l->bytes);
    return true;
}

TRIPS(by_spin_ring, ring_send, ring_receive);

/* By a path on tmpfs, so that a side in any language can map it; it is unlinked once both have. */
static char *map_ring(struct slot *s, struct link *l)
{
    char path[256];
    snprintf(path, sizeof path, "/dev/shm/%s-ring", launch_name());
    size_t bytes = ring_bytes(s);
    if (s->role == 'b')
        meet(s);
    int fd = open(path, s->role == 'a' ? O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        fail(s, "open /dev/shm");
    if (s->role == 'a' && (errno = posix_fallocate(fd, 0, (off_t)bytes)) != 0) {
        unlink(path);
        fail(s, "posix_fallocate /dev/shm");
    }
    if (s->role == 'a')
        meet(s);
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    meet(s);
    if (s->role == 'a')
        unlink(path);
    check_map(s, p);
    close(fd);
    ring_ends(s, l, p);
    return p;
}

static void only_spins(struct slot *s)
{
    if (key_is(s, "wait", "block"))
        skip_alike(s, "a spin ring never sleeps; futex-ring and eventfd are the same ring with sleep");
}

static void run(struct slot *s)
{
    only_spins(s);
    struct link l = message_begin(s);
    char *memory = map_ring(s, &l);
    message_ask(s, &l, &by_spin_ring, "spin");
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    only_spins(s);
    struct link l = message_begin(s);
    char *memory = map_ring(s, &l);
    message_answer(s, &l, &by_spin_ring, "spin");
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

METHOD(message_spin_ring, .experiment = "message", .name = "spin-ring",
       .summary = "A ring in shared memory (a file on /dev/shm); who waits reads its turn again and again.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = SPIN_LAWS,
       .calls = "round-trips:sched_yield?,poll? timed-trips:sched_yield?,poll?",
       .run = run, .run_b = run_b);
