/* Sleeping on a word of shared memory, and a ring whose receiver says that it sleeps, so that the sender wakes only then. */
#ifndef PAGEWISE_MESSAGE_FUTEX_H
#define PAGEWISE_MESSAGE_FUTEX_H
#include "ring.h"
#include <linux/futex.h>
#include <sys/syscall.h>

static inline long futex(uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

/* A slot's turn is two words: the turn's low half, which is slept on, and whether somebody sleeps. */
static inline uint32_t *turn_of(char *slot, size_t bytes)
{
    return (uint32_t *)(slot + ring_turn_at(bytes));
}

/* Counted in the link: how often this side went to sleep, and how often it woke the other. */
#define SLEEPS(l) ((l)->wake_in)
#define WAKES(l) ((l)->wake_out)

static inline bool send_and_wake_sleeper(struct link *l)
{
    char *slot = ring_slot(l->ring_out, l->turn_out, l->bytes);
    uint32_t *turn = turn_of(slot, l->bytes);
    memcpy(slot, l->message, l->bytes);
    __atomic_store_n(&turn[0], (uint32_t)++l->turn_out, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&turn[1], __ATOMIC_SEQ_CST))
        return true;
    WAKES(l)++;
    return futex(turn, FUTEX_WAKE, 1) >= 0;
}

/* Looks `tries` times before it sleeps. */
static inline bool receive_or_sleep(struct link *l, unsigned tries)
{
    char *slot = ring_slot(l->ring_in, l->turn_in++, l->bytes);
    uint32_t *turn = turn_of(slot, l->bytes), wanted = (uint32_t)l->turn_in, seen;
    while (tries && __atomic_load_n(&turn[0], __ATOMIC_ACQUIRE) != wanted)
        tries--;
    if (!tries && __atomic_load_n(&turn[0], __ATOMIC_ACQUIRE) != wanted) {
        SLEEPS(l)++;
        __atomic_store_n(&turn[1], 1, __ATOMIC_SEQ_CST);
        while ((seen = __atomic_load_n(&turn[0], __ATOMIC_SEQ_CST)) != wanted)
            if (futex(turn, FUTEX_WAIT, seen) != 0 && errno != EAGAIN && errno != EINTR)
                return false;
        __atomic_store_n(&turn[1], 0, __ATOMIC_RELEASE);
    }
    memcpy(l->message, slot, l->bytes);
    return true;
}

/* Nobody is woken who had not said that it sleeps; on one CPU every message is slept for. */
#define SLEEPER_LAWS                                                                                                   \
    MESSAGE_LAWS "; wakes <= b.sleeps; b.wakes <= sleeps"

static inline struct link sleeper_begin(struct slot *s, char **memory)
{
    if (key_is(s, "wait", "spin"))
        skip_alike(s, "a futex is there to sleep; spin-ring is the same ring without");
    struct link l = message_begin(s);
    *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, *memory);
    SLEEPS(&l) = WAKES(&l) = 0;
    return l;
}

static inline void sleeper_end(struct slot *s, struct link *l, char *memory)
{
    fact(s, s->role == 'b' ? "b.sleeps" : "sleeps", (uint64_t)SLEEPS(l));
    fact(s, s->role == 'b' ? "b.wakes" : "wakes", (uint64_t)WAKES(l));
    munmap(memory, ring_bytes(s));
    message_end(s, l);
}
#endif
