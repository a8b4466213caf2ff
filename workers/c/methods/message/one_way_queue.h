/* A bounded queue in shared memory that any number of producers fill and one consumer empties. Each slot has a turn: the ticket
 * of the message that it is free for, or one more where that message lies in it (Vyukov's bounded queue). */
#ifndef PAGEWISE_MESSAGE_ONE_WAY_QUEUE_H
#define PAGEWISE_MESSAGE_ONE_WAY_QUEUE_H
#include "one_way.h"

enum { QUEUE_SLOTS = 64, QUEUE_ALIGN = 128 };

struct queue {
    char *slots;
    size_t bytes, stride;
    uint64_t *taken; /* messages that the consumer has, on a line of its own behind the slots */
};

static inline size_t queue_stride(size_t bytes)
{
    return (bytes + sizeof(uint64_t) + QUEUE_ALIGN - 1) / QUEUE_ALIGN * QUEUE_ALIGN;
}

static inline size_t queue_bytes(const struct slot *s)
{
    return (QUEUE_SLOTS * queue_stride(s->bytes) + QUEUE_ALIGN + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
}

static inline struct queue queue_open(struct slot *s)
{
    struct queue q = {shared_by_descriptor(s, queue_bytes(s)), s->bytes, queue_stride(s->bytes), NULL};
    q.taken = (uint64_t *)(q.slots + QUEUE_SLOTS * q.stride);
    for (uint64_t i = 0; s->role == 'a' && i < QUEUE_SLOTS; i++)
        __atomic_store_n((uint64_t *)(q.slots + i * q.stride), i, __ATOMIC_RELEASE);
    return q;
}

/* The slot of a ticket once its turn is `wanted`; NULL where the other side has ended. */
static inline char *queue_slot(const struct queue *q, uint64_t ticket, uint64_t wanted)
{
    char *slot = q->slots + ticket % QUEUE_SLOTS * q->stride;
    unsigned tries = 0;
    while (__atomic_load_n((uint64_t *)slot, __ATOMIC_ACQUIRE) != wanted)
        if (!tried(&tries, TRIES_IN_MEMORY))
            return NULL;
    return slot;
}

/* Messages are what a producer has in its own memory, with the ticket as their first bytes. */
static inline bool queue_put(const struct queue *q, const unsigned char *message, uint64_t ticket)
{
    char *slot = queue_slot(q, ticket, ticket);
    if (!slot)
        return false;
    memcpy(slot + sizeof ticket, message, q->bytes);
    memcpy(slot + sizeof ticket, &ticket, q->bytes < sizeof ticket ? q->bytes : sizeof ticket);
    __atomic_store_n((uint64_t *)slot, ticket + 1, __ATOMIC_RELEASE);
    return true;
}

static inline bool queue_take(const struct queue *q, struct link *l, uint64_t ops, uint64_t *sum)
{
    for (uint64_t turn = 0; turn < ops; turn++) {
        char *slot = queue_slot(q, turn, turn + 1);
        if (!slot)
            return false;
        memcpy(l->message, slot + sizeof turn, q->bytes);
        *sum += stamp_of(l);
        __atomic_store_n((uint64_t *)slot, turn + QUEUE_SLOTS, __ATOMIC_RELEASE);
    }
    __atomic_store_n(q->taken, ops, __ATOMIC_RELEASE);
    return true;
}

/* The sender's end: until the consumer has them all. */
static inline bool queue_drained(const struct queue *q, uint64_t ops)
{
    unsigned tries = 0;
    while (__atomic_load_n(q->taken, __ATOMIC_ACQUIRE) != ops)
        if (!tried(&tries, TRIES_IN_MEMORY))
            return false;
    return true;
}

/* Side b is the same whoever fills the queue. */
static inline void queue_consumer(struct slot *s)
{
    struct link l = message_begin(s);
    struct queue q = queue_open(s);
    uint64_t ops = s->ops, sum = 0;
    bool ok = false;
    meet(s);
    PHASE(s, "one-way") { ok = queue_take(&q, &l, ops, &sum); }
    if (!ok)
        fail(s, "spin");
    one_way_received(s, &l, sum);
    munmap(q.slots, queue_bytes(s));
    message_end(s, &l);
}
#endif
