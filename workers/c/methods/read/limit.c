#include "best.h"
#include "limit_hot.h"

/* Hot: nothing is cheaper than to consume bytes that lie in resident anonymous memory. */
static void run_hot(struct slot *s)
{
    struct input in;
    struct hot hot;
    read_begin(s, &in, WHOLE, 0);
    size_t bytes = in.bytes;
    char *copy = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, copy);
    madvise(copy, bytes, MADV_HUGEPAGE);
    for (size_t have = 0; have < bytes;) {
        ssize_t got = pread(in.descriptor, copy + have, bytes - have, (off_t)have);
        if (got <= 0)
            fail(s, "pread");
        have += (size_t)got;
    }
    struct hot_way way = hot_best(s, &in, copy);
    hot_begin(s, &hot, &in, copy, bytes, way);
    read_count_from_here(s, &in);
    PHASE(s, "open") { }
    PHASE(s, "read") { hot_pass(&hot); }
    in.sink = hot.sinks[0];
    check_pass(s, &in, "read");
    PHASE(s, "close") { }
    hot_end(&hot);
    munmap(copy, bytes);
    fact(s, "best_threads", way.shares);
    fact(s, "best_streams", way.streams);
    read_end(s, &in, 0);
}

/* Cold: O_DIRECT with as many reads in flight, as large ones, and by such a ring as are best here. */
static void run_cold(struct slot *s)
{
    struct input in;
    struct ring ring;
    struct best best = best_requests(s);
    ring_begin(s, &ring, best.depth, best.kind);
    best_begin(s, &in, &best);
    const char *path = in.path;
    int fd = -1, error = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
        error = uring_open(&ring);
        if (!error && best.kind == RING_REGISTERED)
            error = uring_register(&ring, &in, fd);
    }
    direct_check(s, fd);
    ring_check(s, &ring, error);
    PHASE(s, "read") { ring_pass(&ring, &in, fd, true); }
    check_pass(s, &in, "io_uring_enter");
    int left;
    PHASE(s, "close") {
        left = uring_close(&ring);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
    fact(s, "best_queue_depth", best.depth);
    fact(s, "best_chunk_bytes", best.chunk);
    fact(s, "best_ring_kind", best.kind);
    ring_end(s, &ring);
    read_end(s, &in, ring.enters);
}

static void run(struct slot *s)
{
    if (key_is(s, "cache", "hot"))
        run_hot(s);
    else
        run_cold(s);
}

METHOD(read_limit, .experiment = "read", .name = "limit", .role = "limit",
       .summary = "Hot: consume resident anonymous memory, by one thread or two. Cold: O_DIRECT by the best of 18 rings.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes + bytes / 1024",
       .laws = READ_LAWS "; cache=hot: read.minor_faults == 0; "
                         "cache=cold & counted == 1: device_bytes >= stored_bytes; "
                         "cache=dropped & counted == 1: device_bytes >= stored_bytes",
       .calls = "open:openat?,io_uring_setup?,mmap?,io_uring_register? read:io_uring_enter? close:munmap?,close?", .run = run);
