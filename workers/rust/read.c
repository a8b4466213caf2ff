/* The untimed halves of the Rust methods of `read`. What is done with the bytes is the native worker's consumer. */
#include "files.h"
#include "methods/output/ring.h"
#include "methods/read/map.h"

struct pass {
    size_t bytes, step_bytes, steps;
    const uint32_t *blocks;
    void *sink;
    void (*take)(void *sink, const void *data, size_t bytes);
};
IN_RUST int rust_read(int descriptor, char *buffer, const struct pass *pass);
IN_RUST int rust_read_buffered(int descriptor, char *buffer, const struct pass *pass);
IN_RUST int rust_read_whole(int descriptor, const struct pass *pass);
IN_RUST int rust_ring_read(struct ring_of_reads *ring, int descriptor, char *buffers, size_t depth, const struct pass *pass);
IN_RUST void rust_use_map(const char *p, const struct pass *pass);

static void take(void *sink, const void *data, size_t bytes)
{
    consume(sink, data, bytes);
}

static struct pass pass_of(struct input *in)
{
    return (struct pass){in->bytes, in->step_bytes, in->steps, in->blocks, &in->sink, take};
}

static void by_calls(struct slot *s, size_t chunk, bool buffered)
{
    struct input in;
    read_begin(s, &in, chunk, 1);
    struct pass pass = pass_of(&in);
    const char *path = in.path;
    char *buffer = in.buffer;
    int fd = -1;
    PHASE(s, "open") { fd = rust_open(path); }
    check_open(s, fd, "open");
    PHASE(s, "read") { in.error = buffered ? rust_read_buffered(fd, buffer, &pass) : rust_read(fd, buffer, &pass); }
    check_pass(s, &in, "read");
    PHASE(s, "close") { rust_close(fd); }
    read_end(s, &in, in.blocks ? in.steps : 0);
}

static void file_read(struct slot *s)
{
    by_calls(s, key_size(s, "chunk"), false);
}

static void buf_reader(struct slot *s)
{
    by_calls(s, BLOCK_BYTES, true);
}

static void fs_read(struct slot *s)
{
    struct input in;
    read_begin(s, &in, WHOLE, 0);
    struct pass pass = pass_of(&in);
    const char *path = in.path;
    int fd = -1;
    PHASE(s, "open") { fd = rust_open(path); }
    check_open(s, fd, "open");
    PHASE(s, "read") { in.error = rust_read_whole(fd, &pass); }
    check_pass(s, &in, "read");
    PHASE(s, "close") { rust_close(fd); }
    read_end(s, &in, 0);
}

static void by_ring(struct slot *s)
{
    struct input in;
    size_t depth = key_size(s, "queue_depth");
    steps_ring_possible(s);
    read_begin(s, &in, key_size(s, "chunk"), depth);
    struct pass pass = pass_of(&in);
    const char *path = in.path;
    char *buffers = in.buffer;
    struct ring_of_reads *ring = NULL;
    uint64_t enters, completed;
    int fd = -1;
    PHASE(s, "open") {
        fd = rust_open(path);
        ring = rust_ring_open((unsigned)depth);
    }
    check_open(s, fd, "open");
    check_done(s, ring ? 0 : -1, "io_uring_setup or mmap");
    PHASE(s, "read") { in.error = rust_ring_read(ring, fd, buffers, depth, &pass); }
    check_pass(s, &in, "io_uring_enter");
    rust_ring_counts(ring, &enters, &completed);
    int left;
    PHASE(s, "close") {
        left = rust_ring_close(ring);
        rust_close(fd);
    }
    errno = left;
    check_done(s, left ? -1 : 0, "munmap or close");
    fact(s, "completed_bytes", completed);
    read_end(s, &in, enters);
}

static void mapped(struct slot *s)
{
    struct input in;
    char *at = map_begin(s, &in), *p = MAP_FAILED;
    struct pass pass = pass_of(&in);
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1;
    PHASE(s, "open") {
        fd = rust_open(path);
        p = rust_map(at, bytes, fd);
    }
    map_check(s, &in, fd, p, 0);
    PHASE(s, "read") { rust_use_map(p, &pass); }
    map_proofs(s, &in, p);
    int left;
    PHASE(s, "close") {
        left = rust_unmap(p, bytes);
        rust_close(fd);
    }
    check_done(s, left, "munmap");
    read_end(s, &in, 0);
}

METHOD(rust_read_read, .experiment = "read", .name = "read",
       .summary = "File::read_exact into one buffer of `chunk` bytes; in random order seek before each. Idiomatic.",
       .phases = READ_PHASES, .keys = CHUNK_KEYS, .memory = "chunk + bytes / 1024", .laws = CALL_LAWS,
       .calls = "open:openat read:read,lseek? close:close", .run = file_read);

METHOD(rust_read_buf_reader, .experiment = "read", .name = "buf-reader",
       .summary = "4 KiB at a time out of a BufReader of the usual 8 KiB. Naive.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = CACHE_LAWS,
       .calls = "open:openat read:read,lseek?,brk?,mmap?,munmap? close:close", .run = buf_reader);

METHOD(rust_read_fs_read, .experiment = "read", .name = "fs-read",
       .summary = "The whole file into one Vec, as std::fs::read does, and then through it. Naive.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes + bytes / 1024",
       .laws = READ_LAWS "; " HOT_LAW "; " BROUGHT_LAWS,
       .calls = "open:openat read:read,statx?,fstat?,newfstatat?,lseek?,brk?,mmap?,munmap?,mremap? close:close", .run = fs_read);

METHOD(rust_read_mmap, .experiment = "read", .name = "mmap",
       .summary = "A shared mapping as the crate memmap2 makes it, gone through as a slice. Idiomatic.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; shared_mapping == 1; sequential_advice == 0; random_advice == 0; " LAZY_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = mapped);

METHOD(rust_read_io_uring, .experiment = "read", .name = "io_uring",
       .summary = "io_uring through the page cache by its system calls, with `queue_depth` reads of `chunk` bytes in flight. Idiomatic.",
       .phases = READ_PHASES, .keys = CHUNK_KEYS " queue_depth:count", .memory = "chunk * queue_depth + bytes / 1024",
       .laws = CACHE_LAWS "; calls_counted == 1: read_calls == 0; completed_bytes == bytes",
       .calls = "open:openat,io_uring_setup,mmap,brk? read:io_uring_enter,brk?,mmap?,munmap? close:munmap,brk?,close", .run = by_ring);
