#include "best.h"
#include "direct.h"
#include "ring.h"

/* What lies in memory has to come into the CPU's cache once, at best as fast as its lines can be streamed. */
static void stream(const char *start, size_t bytes)
{
    const volatile char *p = start;
    for (size_t i = 0; i < bytes; i += 64)
        (void)p[i];
}

/* Hot: nothing is cheaper than to consume bytes that lie in resident anonymous memory. A record walk waits for each header
 * in turn when its lines are still in memory; streaming a piece first is the least it can take. */
static void run_hot(struct slot *s)
{
    enum { PIECE = 1 << 15 };
    struct input in;
    read_begin(s, &in, key_is(s, "consume", "records") ? PIECE : WHOLE, 0);
    size_t bytes = in.bytes;
    bool records = in.sink.kind == CONSUME_RECORDS;
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
    read_count_from_here(s, &in);
    PHASE(s, "open") { }
    PHASE(s, "read") {
        for (size_t i = 0; i < in.steps; i++) {
            size_t offset = step_offset(&in, i), step = bytes_at(&in, offset);
            if (records)
                stream(copy + offset, step);
            consume(&in.sink, copy + offset, step);
        }
    }
    check_pass(s, &in, "read");
    PHASE(s, "close") { }
    munmap(copy, bytes);
    read_end(s, &in, 0);
}

/* Cold: O_DIRECT with as many reads in flight, and as large ones, as are best here. */
static void run_cold(struct slot *s)
{
    struct input in;
    struct ring ring;
    struct best best = best_requests(s);
    ring_begin(s, &ring, best.depth);
    best_begin(s, &in, &best);
    const char *path = in.path;
    int fd = -1, error = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
        error = uring_open(&ring);
    }
    direct_check(s, fd);
    ring_check(s, error);
    PHASE(s, "read") { ring_pass(&ring, &in, fd, true); }
    check_pass(s, &in, "io_uring_enter");
    PHASE(s, "close") {
        uring_close(&ring);
        close(fd);
    }
    fact(s, "best_queue_depth", best.depth);
    fact(s, "best_chunk_bytes", best.chunk);
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
       .summary = "Hot: consume the bytes in resident anonymous memory. Cold: O_DIRECT at the best queue depth.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes + bytes / 1024",
       .laws = READ_LAWS "; cache=hot: read.minor_faults == 0; cache=cold & counted == 1: device_bytes >= stored_bytes",
       .calls = "open:openat?,io_uring_setup?,mmap? read:io_uring_enter? close:munmap?,close?", .run = run);
