#include "files.h"
#include "methods/read/ring.h"
#include <linux/io_uring.h>
#include <sys/syscall.h>

/* Numbers of Linux 5.15 and 5.18 that older headers lack. */
#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426
#define SYS_io_uring_register 427
#endif
enum { AT_ONCE = 32, STEPS = 3, OPENAT = 18, CLOSE = 19, READ = 22, REGISTER_FILES = 2, FIXED_FILE = 1, LINK = 4, GET_EVENTS = 1 };

/* In a file's turn: it is opened as number `turn` of the ring's own table, read whole, and closed; each waits for the one before.
 * Direct descriptors are this number and one; in `file_index` of newer headers, at the offset of `splice_fd_in`. */
static void queue(struct ring *ring, const struct files *f, int folder, size_t number, unsigned turn)
{
    struct io_uring_sqe steps[STEPS] = {
        {.opcode = OPENAT, .flags = LINK, .fd = folder, .addr = (uintptr_t)f->names[number], .splice_fd_in = (int)turn + 1},
        {.opcode = READ, .flags = LINK | FIXED_FILE, .fd = (int)turn, .addr = (uintptr_t)(f->buffer + turn * f->bytes),
         .len = (unsigned)f->bytes, .user_data = f->bytes},
        {.opcode = CLOSE, .splice_fd_in = (int)turn + 1},
    };
    unsigned tail = *ring->sq_tail;
    for (unsigned i = 0; i < STEPS; i++) {
        unsigned index = (tail + i) & *ring->sq_mask;
        ring->sqes[index] = steps[i];
        ring->sq_array[index] = index;
    }
    __atomic_store_n(ring->sq_tail, tail + STEPS, __ATOMIC_RELEASE);
    ring->waiting += STEPS;
}

/* Submits what is queued and waits until all of it is done. */
static bool finish(struct ring *ring)
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

static int open_ring(struct ring *ring)
{
    int none[AT_ONCE], error = uring_open(ring);
    memset(none, -1, sizeof none);
    if (!error && syscall(SYS_io_uring_register, ring->descriptor, REGISTER_FILES, none, AT_ONCE) != 0)
        error = errno;
    return error;
}

static void run(struct slot *s)
{
    struct files f;
    struct ring ring;
    ring_begin(s, &ring, AT_ONCE * STEPS, RING_PLAIN);
    files_begin(s, &f, false, AT_ONCE);
    int folder = -1, error = 0, left;
    bool fine = true;
    PHASE(s, "open") {
        folder = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = open_ring(&ring);
    }
    ring_check(s, &ring, error);
    PHASE(s, "pass") {
        for (size_t i = 0; i < f.count && fine; i += AT_ONCE) {
            size_t turns = f.count - i < AT_ONCE ? f.count - i : AT_ONCE;
            for (size_t k = 0; k < turns; k++)
                queue(&ring, &f, folder, i + k, (unsigned)k);
            fine = finish(&ring);
            for (size_t k = 0; k < turns; k++)
                files_use(&f, i + k, f.buffer + k * f.bytes, f.bytes);
        }
    }
    if (!fine && (errno == EBADF || errno == EINVAL || errno == ECANCELED))
        skip(s, "this kernel's io_uring cannot read what the request before opens (Linux 5.18)");
    f.failed = !fine;
    files_proofs(s, &f, "io_uring_enter");
    fact(s, "enters", ring.enters);
    fact(s, "completions", ring.completions);
    fact(s, "completed_bytes", ring.completed_bytes);
    PHASE(s, "close") {
        left = uring_close(&ring);
        left |= close(folder);
    }
    check_done(s, left, "munmap, close");
    ring_free(&ring);
    files_end(&f);
}

METHOD(files_io_uring, .experiment = "files", .name = "io_uring",
       .summary = "Per file three linked requests (open, read of its known size, close), 32 files by one call.",
       .phases = FILES_PHASES, .keys = FILES_KEYS, .memory = FILES_MEMORY " + 32 * bytes",
       .laws = FILES_LAWS "; calls_counted == 1: read_calls == 0; completions == 3 * files; completed_bytes == total_bytes; "
                          "enters >= (files + 31) / 32",
       .calls = "open:openat,io_uring_setup,mmap,io_uring_register pass:io_uring_enter close:munmap,close", .run = run);
