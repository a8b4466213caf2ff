#include "ring.h"

static void run(struct slot *s)
{
    struct input in;
    struct ring ring;
    ring_begin(s, &ring, (unsigned)key_size(s, "queue_depth"), RING_SQPOLL);
    read_begin(s, &in, key_size(s, "chunk"), ring.depth);
    const char *path = in.path;
    int fd = -1, error = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        error = uring_open(&ring);
    }
    check_open(s, fd, "open");
    ring_check(s, &ring, error);
    PHASE(s, "read") { ring_pass(&ring, &in, fd, false); }
    check_pass(s, &in, "io_uring_enter");
    ring_proofs(s, &ring);
    int left;
    PHASE(s, "close") {
        left = uring_close(&ring);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
    ring_end(s, &ring);
    read_end(s, &in, ring.enters);
}

METHOD(read_io_uring_sqpoll, .experiment = "read", .name = "io_uring-sqpoll",
       .summary = "io_uring through the page cache, where a kernel thread takes (and does) the reads: a second CPU, counted with the first.",
       .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = CACHE_LAWS "; " RING_BROUGHT_LAWS "; enters <= 2 * (completions + interrupted); ring_thread == 1",
       .calls = "open:openat,io_uring_setup,mmap read:io_uring_enter? close:munmap,close", .run = run);
