#include "o_direct.h"
#include "ring.h"

static SHARED_BODY void run(struct slot *s, enum ring_kind kind)
{
    struct input in;
    struct ring ring;
    ring_begin(s, &ring, (unsigned)key_size(s, "queue_depth"), kind);
    direct_begin(s, &in, key_size(s, "chunk"), ring.depth);
    const char *path = in.path;
    int fd = -1, error = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
        error = uring_open(&ring);
        if (kind == RING_REGISTERED)
            error = error ? error : uring_register(&ring, &in, fd);
    }
    direct_check(s, fd);
    ring_check(s, &ring, error);
    PHASE(s, "read") { ring_pass(&ring, &in, fd, true); }
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

static void plain(struct slot *s) { run(s, RING_PLAIN); }
METHOD(read_io_uring_direct, .experiment = "read", .name = "io_uring-direct",
       .summary = "io_uring with O_DIRECT: `queue_depth` reads of `chunk` bytes in flight, past the page cache.",
       .isolation = "own", .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = DIRECT_LAWS "; " RING_LAWS "; ring_buffers == 0; ring_files == 0; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap read:io_uring_enter close:munmap,close", .run = plain);

static void registered(struct slot *s) { run(s, RING_REGISTERED); }
METHOD(read_io_uring_direct_registered, .experiment = "read", .name = "io_uring-direct-registered",
       .summary = "io_uring with O_DIRECT into registered buffers from a registered file: no page is pinned for each read.",
       .isolation = "own", .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = DIRECT_LAWS "; " RING_LAWS "; ring_buffers == 1; ring_files == 1; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap,io_uring_register read:io_uring_enter close:munmap,close", .run = registered);
