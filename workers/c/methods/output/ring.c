/* See ring.h and io_uring(7). */
#include "ring.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum { WRITE = 23, READ = 22, READ_FIXED = 4 }; /* IORING_OP_WRITE and _READ, Linux 5.6 */

void file_on_device(struct slot *s, int file)
{
    struct statfs status;
    check_done(s, fstatfs(file, &status), "fstatfs");
    if (status.f_type == 0x01021994 || status.f_type == 0x858458f6) /* tmpfs, ramfs */
        skip(s, "the file lies in memory: there is no device for O_DIRECT");
}

void steps_ring_possible(struct slot *s)
{
    struct io_uring_params params = {0};
    int descriptor = (int)syscall(SYS_io_uring_setup, 8, &params);
    if (descriptor < 0)
        skip(s, "io_uring is refused here (no kernel support, kernel.io_uring_disabled, or a container's seccomp filter)");
    close(descriptor);
    if (!(params.features & IORING_FEAT_SINGLE_MMAP) || !(params.features & 1 << 3))
        skip(s, "this kernel's io_uring is too old (Linux 5.6 has all that is needed)");
}

static void lost(struct steps *steps, const char *call)
{
    if (steps->failed)
        return;
    steps->error = errno;
    steps->failed = call;
}

void steps_ring_open(struct steps *steps, struct steps_ring *ring)
{
    struct io_uring_params params = {0};
    ring->descriptor = (int)syscall(SYS_io_uring_setup, steps->depth, &params);
    if (ring->descriptor < 0) {
        lost(steps, "io_uring_setup");
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
        lost(steps, "mmap");
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

void steps_ring_register(struct steps *steps, struct steps_ring *ring, size_t memory_bytes)
{
    struct iovec whole = {steps->memory, memory_bytes};
    steps->fixed = true;
    if (!steps->failed && syscall(SYS_io_uring_register, ring->descriptor, 0, &whole, 1) != 0)
        lost(steps, "io_uring_register");
}

static size_t size_of(const struct steps *steps, size_t i)
{
    return steps->bytes - steps->at[i] < steps->step ? steps->bytes - steps->at[i] : steps->step;
}

static char *place_of(const struct steps *steps, size_t i)
{
    return steps->memory + (steps->slots ? i % steps->slots * steps->step : steps->at[i]);
}

static void submit(const struct steps *steps, struct steps_ring *ring, size_t i)
{
    unsigned tail = *ring->sq_tail, place = tail & *ring->sq_mask;
    ((struct io_uring_sqe *)ring->sqes)[place] = (struct io_uring_sqe){
        .opcode = steps->writes ? WRITE : steps->fixed ? READ_FIXED : READ, .fd = steps->file, .off = steps->at[i],
        .addr = (uintptr_t)place_of(steps, i), .len = (unsigned)size_of(steps, i), .user_data = i};
    ring->sq_array[place] = place;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* What a short request left is done by plain calls. */
static void finish(struct steps *steps, size_t i, size_t have)
{
    for (size_t want = size_of(steps, i); have < want && !steps->failed;) {
        off_t at = (off_t)(steps->at[i] + have);
        char *place = place_of(steps, i) + have;
        ssize_t n = steps->writes ? pwrite(steps->file, place, want - have, at) : pread(steps->file, place, want - have, at);
        if (n < 0 && errno == EINTR)
            continue;
        errno = n == 0 ? EIO : errno;
        if (n <= 0)
            lost(steps, steps->writes ? "pwrite" : "pread");
        else
            have += (size_t)n;
    }
}

static size_t reap(struct steps *steps, struct steps_ring *ring)
{
    unsigned head = *ring->cq_head, end = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
    size_t count = end - head;
    for (; head != end; head++) {
        const struct io_uring_cqe *cqe = &ring->cqes[head & *ring->cq_mask];
        errno = cqe->res < 0 ? -cqe->res : EIO;
        if (cqe->res <= 0)
            lost(steps, "io_uring request");
        else
            finish(steps, cqe->user_data, (size_t)cqe->res);
        if (steps->done && !steps->failed)
            steps->done(steps->owner, cqe->user_data);
    }
    __atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
    return count;
}

void steps_ring_pass(struct steps *steps, struct steps_ring *ring, size_t from, size_t to)
{
    size_t next = from, done = from;
    unsigned waiting = 0; /* in the ring, and the kernel has not taken them yet */
    while (done < next || (next < to && !steps->failed)) {
        for (; !steps->failed && next < to && next - done < steps->depth; next++, waiting++)
            submit(steps, ring, next);
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, waiting, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        if (taken < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY) {
            lost(steps, "io_uring_enter"); /* closing the ring waits for what is under way */
            return;
        }
        waiting -= taken > 0 ? (unsigned)taken : 0;
        done += reap(steps, ring);
    }
}

void steps_ring_close(struct steps *steps, struct steps_ring *ring)
{
    if (munmap(ring->rings, ring->rings_bytes) != 0 || munmap(ring->sqes, ring->sqes_bytes) != 0)
        lost(steps, "munmap");
    if (close(ring->descriptor) != 0)
        lost(steps, "close");
}
