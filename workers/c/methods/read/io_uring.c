#include "o_direct.h"
#include "ring.h"

static SHARED_BODY void run(struct slot *s, enum ring_kind kind, bool direct)
{
    struct input in;
    struct ring ring;
    ring_begin(s, &ring, (unsigned)key_size(s, "queue_depth"), kind);
    (direct ? direct_begin : read_begin)(s, &in, key_size(s, "chunk"), ring.depth);
    const char *path = in.path;
    int fd = -1, error = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
        error = uring_open(&ring);
        if (kind == RING_REGISTERED)
            error = error ? error : uring_register(&ring, &in, fd);
    }
    if (direct)
        direct_check(s, fd);
    else
        check_open(s, fd, "open");
    ring_check(s, &ring, error);
    PHASE(s, "read") { ring_pass(&ring, &in, fd, direct); }
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

static void plain(struct slot *s) { run(s, RING_PLAIN, false); }
METHOD(read_io_uring, .experiment = "read", .name = "io_uring",
       .summary = "io_uring through the page cache, with `queue_depth` reads of `chunk` bytes in flight.",
       .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = CACHE_LAWS "; " RING_LAWS "; ring_buffers == 0; ring_files == 0; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap read:io_uring_enter close:munmap,close", .run = plain);

static void defer(struct slot *s) { run(s, RING_DEFER, false); }
METHOD(read_io_uring_defer, .experiment = "read", .name = "io_uring-defer",
       .summary = "io_uring through the page cache with DEFER_TASKRUN: completions are worked on when they are waited for, by one thread.",
       .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = CACHE_LAWS "; " RING_LAWS "; ring_buffers == 0; ring_files == 0; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap read:io_uring_enter close:munmap,close", .run = defer);

static void sqpoll(struct slot *s) { run(s, RING_SQPOLL, false); }
METHOD(read_io_uring_sqpoll, .experiment = "read", .name = "io_uring-sqpoll",
       .summary = "io_uring through the page cache, where a kernel thread takes (and does) the reads: a second CPU, counted with the first.",
       .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = CACHE_LAWS "; " RING_BROUGHT_LAWS "; enters <= 2 * (completions + interrupted); ring_thread == 1",
       .calls = "open:openat,io_uring_setup,mmap read:io_uring_enter? close:munmap,close", .run = sqpoll);

static void registered(struct slot *s) { run(s, RING_REGISTERED, false); }
METHOD(read_io_uring_registered, .experiment = "read", .name = "io_uring-registered",
       .summary = "io_uring through the page cache, its buffers and the file registered beforehand (READ_FIXED, fixed file).",
       .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = CACHE_LAWS "; " RING_LAWS "; ring_buffers == 1; ring_files == 1; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap,io_uring_register read:io_uring_enter close:munmap,close", .run = registered);

static void direct_plain(struct slot *s) { run(s, RING_PLAIN, true); }
METHOD(read_io_uring_direct, .experiment = "read", .name = "io_uring-direct",
       .summary = "io_uring with O_DIRECT: `queue_depth` reads of `chunk` bytes in flight, past the page cache.",
       .isolation = "own", .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = DIRECT_LAWS "; " RING_LAWS "; ring_buffers == 0; ring_files == 0; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap read:io_uring_enter close:munmap,close", .run = direct_plain);

static void direct_registered(struct slot *s) { run(s, RING_REGISTERED, true); }
METHOD(read_io_uring_direct_registered, .experiment = "read", .name = "io_uring-direct-registered",
       .summary = "io_uring with O_DIRECT into registered buffers from a registered file: no page is pinned for each read.",
       .isolation = "own", .phases = READ_PHASES, .keys = RING_KEYS, .memory = "chunk * queue_depth + bytes / 1024",
       .laws = DIRECT_LAWS "; " RING_LAWS "; ring_buffers == 1; ring_files == 1; ring_thread == 0",
       .calls = "open:openat,io_uring_setup,mmap,io_uring_register read:io_uring_enter close:munmap,close", .run = direct_registered);
