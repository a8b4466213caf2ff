/* io_uring's requests for many small files, by the numbers of its calls: headers may be older than the kernel. */
#include "linked.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>

/* Numbers of Linux 5.15 and 5.18 that older headers lack. */
#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426
#define SYS_io_uring_register 427
#endif
enum { OPENAT = 18, CLOSE = 19, READ = 22, REGISTER_FILES = 2, FIXED_FILE = 1, LINK = 4, GET_EVENTS = 1 };
/* FILE_INDEX_AT: the offset of `file_index` in struct io_uring_sqe of Linux 5.15. */
enum { FILE_INDEX_AT = 44 };

void linked_queue(struct ring *ring, const struct files *f, int folder, size_t number, unsigned turn)
{
    char *buffer = f->buffer + turn * f->bytes;
    struct io_uring_sqe steps[LINKED_STEPS] = {
        {.opcode = OPENAT, .flags = LINK, .fd = folder, .addr = (uintptr_t)f->names[number]},
        {.opcode = READ, .flags = LINK | FIXED_FILE, .fd = (int)turn, .addr = (uintptr_t)buffer, .len = (unsigned)f->bytes},
        {.opcode = CLOSE},
    };
    uint32_t file = turn + 1; /* of the two that name a file of the table */
    memcpy((char *)&steps[0] + FILE_INDEX_AT, &file, sizeof file);
    memcpy((char *)&steps[2] + FILE_INDEX_AT, &file, sizeof file);
    steps[1].user_data = f->bytes;
    unsigned tail = *ring->sq_tail;
    for (unsigned i = 0; i < LINKED_STEPS; i++) {
        unsigned index = (tail + i) & *ring->sq_mask;
        ring->sqes[index] = steps[i];
        ring->sq_array[index] = index;
    }
    __atomic_store_n(ring->sq_tail, tail + LINKED_STEPS, __ATOMIC_RELEASE);
    ring->waiting += LINKED_STEPS;
}

bool linked_finish(struct ring *ring)
{
    unsigned want = ring->waiting;
    for (unsigned done = 0; done < want;) {
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, ring->waiting, want - done, GET_EVENTS, NULL, 0);
        if (taken < 0 && errno != EINTR)
            return false;
        ring->enters++;
        ring->waiting -= taken > 0 ? (unsigned)taken : 0;
        unsigned head = *ring->cq_head, tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE);
        for (; head != tail; head++, done++) {
            const struct io_uring_cqe *cqe = &ring->cqes[head & *ring->cq_mask];
            ring->completed_bytes += cqe->res > 0 ? (uint64_t)cqe->res : 0;
            ring->completions++;
            if (cqe->res < 0 || (uint64_t)cqe->res != cqe->user_data)
                errno = cqe->res < 0 ? -cqe->res : EIO, ring->interrupted++;
        }
        __atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE);
    }
    return ring->interrupted == 0;
}

int linked_open(struct ring *ring)
{
    int none[LINKED_FILES], error = uring_open(ring);
    memset(none, -1, sizeof none);
    if (!error && syscall(SYS_io_uring_register, ring->descriptor, REGISTER_FILES, none, LINKED_FILES) != 0)
        error = errno;
    return error;
}
