/* Making a ring and looking at it; see ring.h and io_uring(7). */
#include "ring.h"
#include <linux/io_uring.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* Numbers of the kernel's interface that older headers lack. */
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_register 427
#endif
enum {
    SETUP_SQPOLL = 1 << 1, SETUP_SINGLE_ISSUER = 1 << 12, SETUP_DEFER_TASKRUN = 1 << 13,
    FEATURE_SINGLE_MMAP = 1 << 0, FEATURE_READ = 1 << 3, /* READ came with the feature of reading at the current position */
    FEATURE_SQPOLL_ANY_FILE = 1 << 7, REGISTER_BUFFERS = 0, REGISTER_FILES = 2,
};

void ring_begin(struct slot *s, struct ring *ring, unsigned depth, enum ring_kind kind)
{
    *ring = (struct ring){.depth = depth, .kind = kind, .turns_bytes = depth * sizeof(struct ring_turn)};
    if (depth > 4096)
        skip(s, "queue_depth is larger than 4096, the most that every kernel with io_uring takes");
    ring->turns = mmap(NULL, ring->turns_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, ring->turns);
    ring_check(s, ring, uring_open(ring));
    uring_close(ring);
}

void ring_check(struct slot *s, const struct ring *ring, int error)
{
    if (error == EPERM && ring->kind == RING_SQPOLL)
        skip(s, "SQPOLL is refused here: before Linux 5.11 it needs CAP_SYS_ADMIN, and kernel.io_uring_disabled may forbid it");
    if (error == ENOSYS || error == EPERM || error == EACCES)
        skip(s, "io_uring is refused here (no kernel support, kernel.io_uring_disabled, or a container's seccomp filter); "
                "allow io_uring_setup, io_uring_enter and io_uring_register");
    if (error == EINVAL && ring->kind == RING_DEFER)
        skip(s, "this kernel's io_uring has no DEFER_TASKRUN (Linux 6.1)");
    if (error == ENOMEM && ring->registering)
        skip(s, "registered buffers are locked in memory, and the limit on that (ulimit -l) is smaller than queue_depth chunks");
    if (error == EOPNOTSUPP)
        skip(s, "this kernel's io_uring is too old (Linux 5.6 has all that is needed, 5.11 for SQPOLL)");
    if (error) {
        errno = error;
        fail(s, ring->registering ? "io_uring_register" : ring->descriptor < 0 ? "io_uring_setup" : "mmap");
    }
}

int uring_open(struct ring *ring)
{
    struct io_uring_params params = {0};
    if (ring->kind == RING_SQPOLL)
        params.flags = SETUP_SQPOLL;
    if (ring->kind == RING_DEFER)
        params.flags = SETUP_SINGLE_ISSUER | SETUP_DEFER_TASKRUN;
    ring->descriptor = (int)syscall(SYS_io_uring_setup, ring->depth, &params);
    if (ring->descriptor < 0)
        return errno;
    unsigned needed = FEATURE_SINGLE_MMAP | FEATURE_READ | (ring->kind == RING_SQPOLL ? FEATURE_SQPOLL_ANY_FILE : 0);
    if ((params.features & needed) != needed) {
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
    ring->sq_flags = (unsigned *)(rings + params.sq_off.flags);
    ring->cq_head = (unsigned *)(rings + params.cq_off.head);
    ring->cq_tail = (unsigned *)(rings + params.cq_off.tail);
    ring->cq_mask = (unsigned *)(rings + params.cq_off.ring_mask);
    ring->cqes = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
    return 0;
}

int uring_register(struct ring *ring, const struct input *in, int descriptor)
{
    struct iovec whole = {in->buffer, in->buffer_bytes};
    if (syscall(SYS_io_uring_register, ring->descriptor, REGISTER_BUFFERS, &whole, 1) != 0 ||
        syscall(SYS_io_uring_register, ring->descriptor, REGISTER_FILES, &descriptor, 1) != 0) {
        ring->registering = true;
        return errno;
    }
    return 0;
}

int uring_close(struct ring *ring)
{
    int left = munmap(ring->rings, ring->rings_bytes);
    left |= munmap(ring->sqes, ring->sqes_bytes);
    return left | close(ring->descriptor);
}

void ring_proofs(struct slot *s, const struct ring *ring)
{
    char path[64], line[256];
    unsigned buffers = 0, files = 0;
    int thread = 0;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", ring->descriptor);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        (void)!sscanf(line, "UserBufs: %u", &buffers);
        (void)!sscanf(line, "UserFiles: %u", &files);
        (void)!sscanf(line, "SqThread: %d", &thread);
    }
    if (file)
        fclose(file);
    fact(s, "ring_buffers", buffers);
    fact(s, "ring_files", files);
    fact(s, "ring_thread", thread > 0);
}

void ring_end(struct slot *s, struct ring *ring)
{
    fact(s, "enters", ring->enters);
    fact(s, "interrupted", ring->interrupted);
    fact(s, "completions", ring->completions);
    fact(s, "completed_bytes", ring->completed_bytes);
    ring_free(ring);
}

void ring_free(struct ring *ring)
{
    munmap(ring->turns, ring->turns_bytes);
}
