/* See ring.h and io_uring(7). */
#include "ring.h"
#include "direct.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>

void ring_begin(struct slot *s, struct ring *ring, unsigned depth)
{
    *ring = (struct ring){.depth = depth, .turns_bytes = depth * sizeof(struct ring_turn)};
    if (depth > 4096)
        skip(s, "queue_depth is larger than 4096, the most that every kernel with io_uring takes");
    ring->turns = mmap(NULL, ring->turns_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, ring->turns);
    ring_check(s, uring_open(ring));
    uring_close(ring);
}

void ring_check(struct slot *s, int error)
{
    if (error == ENOSYS || error == EPERM || error == EACCES)
        skip(s, "io_uring is refused here (no kernel support, kernel.io_uring_disabled, or a container's seccomp filter); "
                "allow io_uring_setup, io_uring_enter and io_uring_register");
    if (error == EOPNOTSUPP)
        skip(s, "this kernel's io_uring is too old (Linux 5.6 has all that is needed)");
    if (error) {
        errno = error;
        fail(s, "io_uring_setup");
    }
}

int uring_open(struct ring *ring)
{
    struct io_uring_params params = {0};
    ring->descriptor = (int)syscall(SYS_io_uring_setup, ring->depth, &params);
    if (ring->descriptor < 0)
        return errno;
    /* IORING_OP_READ came together with the feature of reading at the current position. */
    if (!(params.features & IORING_FEAT_SINGLE_MMAP) || !(params.features & IORING_FEAT_RW_CUR_POS)) {
        close(ring->descriptor);
        return EOPNOTSUPP;
    }
    size_t sq = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    ring->rings_bytes = sq > cq ? sq : cq;
    ring->sqes_bytes = params.sq_entries * sizeof(struct io_uring_sqe);
    ring->rings = mmap(NULL, ring->rings_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->descriptor,
                       IORING_OFF_SQ_RING);
    ring->sqes = mmap(NULL, ring->sqes_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->descriptor,
                      IORING_OFF_SQES);
    if (ring->rings == MAP_FAILED || ring->sqes == MAP_FAILED)
        return errno;
    char *rings = ring->rings;
    ring->sq_tail = (unsigned *)(rings + params.sq_off.tail);
    ring->sq_mask = (unsigned *)(rings + params.sq_off.ring_mask);
    ring->sq_array = (unsigned *)(rings + params.sq_off.array);
    ring->cq_head = (unsigned *)(rings + params.cq_off.head);
    ring->cq_tail = (unsigned *)(rings + params.cq_off.tail);
    ring->cq_mask = (unsigned *)(rings + params.cq_off.ring_mask);
    ring->cqes = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
    return 0;
}

void uring_close(struct ring *ring)
{
    munmap(ring->rings, ring->rings_bytes);
    munmap(ring->sqes, ring->sqes_bytes);
    close(ring->descriptor);
}

/* Submits what waits; `least` completions are waited for. */
static bool enter(struct ring *ring, unsigned least)
{
    for (;;) {
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, ring->waiting, least, least ? IORING_ENTER_GETEVENTS : 0,
                             NULL, 0);
        ring->enters++;
        if (taken >= 0) {
            ring->waiting -= (unsigned)taken;
            return true;
        }
        if (errno != EINTR)
            return false;
    }
}

/* Queues what is missing of one turn's step. */
static void queue(struct ring *ring, const struct input *in, int descriptor, bool direct, unsigned slot)
{
    struct ring_turn *turn = &ring->turns[slot];
    unsigned tail = *ring->sq_tail, index = tail & *ring->sq_mask;
    size_t left = turn->want - turn->have;
    ring->sqes[index] = (struct io_uring_sqe){
        .opcode = IORING_OP_READ, .fd = descriptor, .off = turn->offset + turn->have, .user_data = slot,
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
        if (cqe->res > 0)
            turn->have += (size_t)cqe->res;
        else if (cqe->res != -EAGAIN && cqe->res != -EINTR)
            in->error = cqe->res ? -cqe->res : ENODATA;
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
    size_t steps = in->steps, queued = 0, step_bytes = in->step_bytes;
    for (size_t i = 0; i < steps && !in->error; i++) {
        unsigned slot = (unsigned)(i % depth);
        for (; queued < steps && queued < i + depth; queued++) {
            size_t offset = step_offset(in, queued);
            ring->turns[queued % depth] = (struct ring_turn){offset, 0, bytes_at(in, offset), false};
            queue(ring, in, descriptor, direct, (unsigned)(queued % depth));
        }
        /* Half a ring at a time keeps the device busy and the calls few. */
        if (2 * ring->waiting >= depth && !enter(ring, 0))
            in->error = errno;
        while (!ring->turns[slot].done && !in->error) {
            reap(ring, in, descriptor, direct);
            if (!ring->turns[slot].done && !in->error && !enter(ring, 1))
                in->error = errno;
        }
        if (!in->error)
            consume(&in->sink, in->buffer + slot * step_bytes, ring->turns[slot].want);
    }
    if (in->error)
        drain(ring, in, descriptor, direct);
}

void ring_end(struct slot *s, struct ring *ring)
{
    fact(s, "completions", ring->completions);
    ring_free(ring);
}

void ring_free(struct ring *ring)
{
    munmap(ring->turns, ring->turns_bytes);
}
