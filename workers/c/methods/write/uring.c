/* See uring.h and io_uring(7). */
#include "uring.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>

/* Numbers of Linux 5.6 that older headers lack. */
enum { FEATURE_WRITE = 1 << 3 /* reading and writing at the current position came with WRITE */, OPERATION_WRITE = 23 };

static struct {
    int descriptor, file;
    char *rings;
    size_t rings_bytes, sqes_bytes;
    struct io_uring_sqe *sqes;
    struct io_uring_params params;
} ring;

static unsigned *at(unsigned offset)
{
    return (unsigned *)(ring.rings + offset);
}

/* Submits the next requests of the ring and waits for as many answers; returns how many were taken, or -1. */
static long carry_out(unsigned count)
{
    long taken;
    __atomic_store_n(at(ring.params.sq_off.tail), *at(ring.params.sq_off.tail) + count, __ATOMIC_RELEASE);
    do
        taken = syscall(SYS_io_uring_enter, ring.descriptor, count, count, IORING_ENTER_GETEVENTS, NULL, 0);
    while (taken < 0 && errno == EINTR);
    return taken;
}

/* A store keeps its ring: its first fsync, which makes the kernel's thread that carries them out, is over before the clock. */
static void make_thread(struct slot *s)
{
    unsigned index = *at(ring.params.sq_off.tail) & *at(ring.params.sq_off.ring_mask);
    ring.sqes[index] = (struct io_uring_sqe){.opcode = IORING_OP_FSYNC, .fd = ring.file};
    at(ring.params.sq_off.array)[index] = index;
    long taken = carry_out(1);
    const struct io_uring_cqe *answer = (const void *)at(ring.params.cq_off.cqes);
    errno = taken == 1 && answer->res < 0 ? -answer->res : errno;
    check_done(s, taken != 1 || answer->res < 0, "io_uring_enter");
    __atomic_store_n(at(ring.params.cq_off.head), *at(ring.params.cq_off.tail), __ATOMIC_RELEASE);
}

void uring_begin(struct slot *s, int fd)
{
    struct io_uring_params params = {0};
    ring.file = fd;
    ring.descriptor = (int)syscall(SYS_io_uring_setup, 2, &params);
    check_done(s, ring.descriptor < 0 && errno != ENOSYS && errno != EPERM && errno != EACCES, "io_uring_setup");
    if (ring.descriptor < 0)
        skip(s, "io_uring is refused here (no kernel support, kernel.io_uring_disabled, or a container's seccomp filter)");
    if (!(params.features & IORING_FEAT_SINGLE_MMAP) || !(params.features & FEATURE_WRITE)) {
        close(ring.descriptor);
        skip(s, "this kernel's io_uring is too old (Linux 5.6 has all that is needed)");
    }
    size_t sq = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    ring.params = params;
    ring.rings_bytes = sq > cq ? sq : cq;
    ring.sqes_bytes = params.sq_entries * sizeof(struct io_uring_sqe);
    int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    ring.rings = mmap(NULL, ring.rings_bytes, protection, flags, ring.descriptor, IORING_OFF_SQ_RING);
    ring.sqes = mmap(NULL, ring.sqes_bytes, protection, flags, ring.descriptor, IORING_OFF_SQES);
    check_map(s, ring.rings);
    check_map(s, ring.sqes);
    make_thread(s);
}

/* Both are submitted and both waited for by one call. A short write breaks the link: the second is cancelled then. */
bool uring_put(const struct record *r)
{
    unsigned tail = *at(ring.params.sq_off.tail), mask = *at(ring.params.sq_off.ring_mask);
    unsigned first = tail & mask, second = (tail + 1) & mask, *array = at(ring.params.sq_off.array);
    ring.sqes[first] = (struct io_uring_sqe){.opcode = OPERATION_WRITE, .flags = IOSQE_IO_LINK, .fd = ring.file,
                                             .off = (uint64_t)r->at, .addr = (uintptr_t)r->data, .len = (unsigned)r->bytes};
    ring.sqes[second] = (struct io_uring_sqe){.opcode = IORING_OP_FSYNC, .fd = ring.file,
                                              .fsync_flags = IORING_FSYNC_DATASYNC, .user_data = 1};
    array[first] = first;
    array[second] = second;
    long taken = carry_out(2);
    unsigned head = *at(ring.params.cq_off.head), end = __atomic_load_n(at(ring.params.cq_off.tail), __ATOMIC_ACQUIRE);
    const struct io_uring_cqe *cqes = (const void *)at(ring.params.cq_off.cqes);
    bool right = taken == 2 && end - head == 2;
    for (; head != end; head++) {
        const struct io_uring_cqe *cqe = &cqes[head & *at(ring.params.cq_off.ring_mask)];
        bool mine = cqe->res == (cqe->user_data ? 0 : (int)r->bytes);
        errno = mine ? errno : cqe->res < 0 ? -cqe->res : EIO;
        right = right && mine;
    }
    __atomic_store_n(at(ring.params.cq_off.head), head, __ATOMIC_RELEASE);
    return right;
}

void uring_end(void)
{
    munmap(ring.rings, ring.rings_bytes);
    munmap(ring.sqes, ring.sqes_bytes);
    close(ring.descriptor);
}
