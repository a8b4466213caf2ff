/* The measured pass over a ring; see ring.h. */
#include "ring.h"
#include "o_direct.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>

#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426
#endif
enum {
    READ = 22, READ_FIXED = 4, FIXED_FILE = 1 << 0, GET_EVENTS = 1 << 0, WAKE_UP = 1 << 1, NEED_WAKEUP = 1 << 0,
};

/* Submits what waits; `least` completions are waited for, in the same call. A kernel thread that takes what is submitted is
 * only called when it has gone to sleep. */
static bool enter(struct ring *ring, unsigned least)
{
    unsigned flags = least ? GET_EVENTS : 0, submit = ring->waiting;
    if (ring->kind == RING_SQPOLL) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (__atomic_load_n(ring->sq_flags, __ATOMIC_RELAXED) & NEED_WAKEUP)
            flags |= WAKE_UP;
        ring->waiting = submit = 0;
        if (!flags)
            return true;
    }
    for (;;) {
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, submit, least, flags, NULL, 0);
        ring->enters++;
        if (taken >= 0) {
            ring->waiting -= ring->kind == RING_SQPOLL ? 0 : (unsigned)taken;
            return true;
        }
        if (errno != EINTR)
            return false;
        ring->interrupted++;
    }
}

/* Queues what is missing of one turn's step. */
static void queue(struct ring *ring, const struct input *in, int descriptor, bool direct, unsigned slot)
{
    struct ring_turn *turn = &ring->turns[slot];
    bool registered = ring->kind == RING_REGISTERED;
    unsigned tail = *ring->sq_tail, index = tail & *ring->sq_mask;
    size_t left = turn->want - turn->have;
    ring->sqes[index] = (struct io_uring_sqe){
        .opcode = registered ? READ_FIXED : READ, .flags = registered ? FIXED_FILE : 0, .fd = registered ? 0 : descriptor,
        .off = turn->offset + turn->have, .user_data = slot,
        .addr = (uintptr_t)(in->buffer + (size_t)slot * in->step_bytes + turn->have),
        .len = (unsigned)(direct ? whole_blocks(left) : left)};
    ring->sq_array[index] = index;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
    ring->waiting++;
    ring->in_flight++;
}

/* Takes the completions that are there; a read that brought less than its step is queued again for the rest. */
static void reap(struct ring *ring, struct input *in, int descriptor, bool direct)
{
    unsigned head = *ring->cq_head, tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE), mask = *ring->cq_mask;
    for (; head != tail; head++) {
        const struct io_uring_cqe *cqe = &ring->cqes[head & mask];
        unsigned slot = (unsigned)cqe->user_data;
        struct ring_turn *turn = &ring->turns[slot];
        ring->completions++;
        ring->in_flight--;
        if (cqe->res > 0) {
            turn->have += (size_t)cqe->res;
            ring->completed_bytes += (uint64_t)cqe->res;
        } else if (cqe->res != -EAGAIN && cqe->res != -EINTR) {
            in->error = cqe->res ? -cqe->res : ENODATA;
        }
        turn->done = turn->have >= turn->want;
        if (!turn->done && !in->error)
            queue(ring, in, descriptor, direct, slot);
    }
    __atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
}

/* Completions of a pass that stopped early are waited for: the kernel still writes to the buffers. */
static void drain(struct ring *ring, struct input *in, int descriptor, bool direct)
{
    while (ring->in_flight && enter(ring, 1))
        reap(ring, in, descriptor, direct);
}

void ring_pass(struct ring *ring, struct input *in, int descriptor, bool direct)
{
    unsigned depth = ring->depth;
    bool polled = ring->kind == RING_SQPOLL;
    size_t steps = in->steps, queued = 0, step_bytes = in->step_bytes;
    for (size_t i = 0; i < steps && !in->error; i++) {
        unsigned slot = (unsigned)(i % depth);
        for (; queued < steps && queued < i + depth; queued++) {
            size_t offset = step_offset(in, queued);
            ring->turns[queued % depth] = (struct ring_turn){offset, 0, bytes_at(in, offset), false};
            queue(ring, in, descriptor, direct, (unsigned)(queued % depth));
        }
        reap(ring, in, descriptor, direct);
        /* While the next buffer is there already, what is free is submitted half a ring at a time: the device stays busy, and
         * the calls are few. A thread that polls takes it without one. */
        if (ring->turns[slot].done && ring->waiting && (polled || 2 * ring->waiting >= depth) && !enter(ring, 0))
            in->error = errno;
        while (!ring->turns[slot].done && !in->error) {
            if (!enter(ring, 1))
                in->error = errno;
            reap(ring, in, descriptor, direct);
        }
        if (!in->error)
            consume(&in->sink, in->buffer + slot * step_bytes, ring->turns[slot].want);
    }
    if (in->error)
        drain(ring, in, descriptor, direct);
}
