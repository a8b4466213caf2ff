/* See ring.h and io_uring(7). */
#include "ring.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { WRITE = 23 /* IORING_OP_WRITE, Linux 5.6 */ };

void direct_possible(struct slot *s, const struct output *o)
{
    struct statfs status;
    check_done(s, fstatfs(o->folder, &status), "fstatfs");
    if (status.f_type == 0x01021994 || status.f_type == 0x858458f6) /* tmpfs, ramfs */
        skip(s, "the file lies in memory: there is no device that O_DIRECT could write to");
    if (o->bytes % 4096)
        skip(s, "O_DIRECT writes whole blocks of 4 KiB");
}

void output_ring_possible(struct slot *s)
{
    struct io_uring_params params = {0};
    int descriptor = (int)syscall(SYS_io_uring_setup, DIRECT_DEPTH, &params);
    if (descriptor < 0)
        skip(s, "io_uring is refused here (no kernel support, kernel.io_uring_disabled, or a container's seccomp filter)");
    close(descriptor);
    if (!(params.features & IORING_FEAT_SINGLE_MMAP) || !(params.features & 1 << 3))
        skip(s, "this kernel's io_uring is too old (Linux 5.6 has all that is needed)");
}

void output_ring_open(struct output *o, struct output_ring *ring)
{
    struct io_uring_params params = {0};
    ring->descriptor = o->failed ? -1 : (int)syscall(SYS_io_uring_setup, DIRECT_DEPTH, &params);
    if (ring->descriptor < 0) {
        output_lost(o, "io_uring_setup");
        return;
    }
    size_t sq = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    ring->rings_bytes = sq > cq ? sq : cq;
    ring->sqes_bytes = params.sq_entries * sizeof(struct io_uring_sqe);
    ring->rings = mmap(NULL, ring->rings_bytes, protection, flags, ring->descriptor, IORING_OFF_SQ_RING);
    ring->sqes = mmap(NULL, ring->sqes_bytes, protection, flags, ring->descriptor, IORING_OFF_SQES);
    if (ring->rings == MAP_FAILED || ring->sqes == MAP_FAILED) {
        output_lost(o, "mmap");
        return;
    }
    ring->sq_tail = (unsigned *)(ring->rings + params.sq_off.tail);
    ring->sq_mask = (unsigned *)(ring->rings + params.sq_off.ring_mask);
    ring->sq_array = (unsigned *)(ring->rings + params.sq_off.array);
    ring->cq_head = (unsigned *)(ring->rings + params.cq_off.head);
    ring->cq_tail = (unsigned *)(ring->rings + params.cq_off.tail);
    ring->cq_mask = (unsigned *)(ring->rings + params.cq_off.ring_mask);
    ring->cqes = (const struct io_uring_cqe *)(ring->rings + params.cq_off.cqes);
}

static void submit(const struct output *o, struct output_ring *ring, size_t i)
{
    unsigned tail = *ring->sq_tail, place = tail & *ring->sq_mask;
    ((struct io_uring_sqe *)ring->sqes)[place] = (struct io_uring_sqe){
        .opcode = WRITE, .fd = o->file, .off = o->at[i], .addr = (uintptr_t)(o->source + o->at[i]),
        .len = (unsigned)step_bytes(o, i), .user_data = i};
    ring->sq_array[place] = place;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* What is done is taken; a short write is finished by a plain call. */
static size_t reap(struct output *o, struct output_ring *ring)
{
    unsigned head = *ring->cq_head, end = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
    size_t count = end - head;
    for (; head != end; head++) {
        const struct io_uring_cqe *cqe = &ring->cqes[head & *ring->cq_mask];
        size_t i = cqe->user_data, want = step_bytes(o, i), done = cqe->res > 0 ? (size_t)cqe->res : 0;
        errno = cqe->res < 0 ? -cqe->res : EIO;
        if (cqe->res <= 0)
            output_lost(o, "io_uring write");
        else if (done < want)
            output_put(o, o->source + o->at[i] + done, want - done, o->at[i] + done);
    }
    __atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
    return count;
}

void output_ring_write(struct output *o, struct output_ring *ring)
{
    size_t next = 0, done = 0;
    unsigned waiting = 0; /* in the ring, and the kernel has not taken them yet */
    while (done < next || (next < o->steps && !o->failed)) {
        for (; !o->failed && next < o->steps && next - done < DIRECT_DEPTH; next++, waiting++)
            submit(o, ring, next);
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, waiting, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        if (taken < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY) {
            output_lost(o, "io_uring_enter"); /* closing the ring waits for what is under way */
            return;
        }
        waiting -= taken > 0 ? (unsigned)taken : 0;
        done += reap(o, ring);
    }
}

void output_ring_close(struct output_ring *ring)
{
    munmap(ring->rings, ring->rings_bytes);
    munmap(ring->sqes, ring->sqes_bytes);
    close(ring->descriptor);
}
