/* The untimed halves of the Rust methods of `load`; the uses of the records are the native worker's. */
#include "methods/load/load.h"
#include "files.h"

struct parts {
    char *start;
    size_t bytes, capacity;
};
IN_RUST bool rust_read_to_end(int descriptor, struct parts *parts);
IN_RUST int rust_read_at_threads(int descriptor, size_t bytes, struct parts *parts);
IN_RUST int rust_ring_load(struct ring_of_reads *ring, int descriptor, size_t bytes, struct parts *parts);
IN_RUST void *rust_map_populate(void *at, size_t bytes, int descriptor);
IN_RUST void rust_drop(const struct parts *parts);

static void into_vec(struct slot *s, bool by_threads)
{
    need_memory(s);
    struct load l = load_begin(s);
    struct parts parts = {0};
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        if (by_threads ? (errno = rust_read_at_threads(l.file, l.bytes, &parts)) != 0 : !rust_read_to_end(l.file, &parts))
            load_lost(&l, by_threads ? "pread64 or clone" : "read");
    }
    load_check(s, &l);
    l.p = parts.start;
    if (parts.bytes != l.bytes)
        fail_because(s, "read", "the file has another size");
    load_uses(s, &l);
    PHASE(s, "drop") {
        rust_drop(&parts);
        rust_close(l.file);
    }
    load_end(s, &l);
}

static void fs_read(struct slot *s)
{
    into_vec(s, false);
}

static void read_at_threads(struct slot *s)
{
    into_vec(s, true);
}

static void by_ring(struct slot *s)
{
    need_memory(s);
    steps_ring_possible(s);
    struct load l = load_begin(s);
    struct parts parts = {0};
    struct ring_of_reads *ring = NULL;
    uint64_t enters, completed;
    PHASE(s, "open") {
        load_open(&l, 0);
        if (!l.failed && !(ring = rust_ring_open(IN_FLIGHT)))
            load_lost(&l, "io_uring_setup or mmap");
    }
    load_check(s, &l);
    PHASE(s, "bring") {
        errno = rust_ring_load(ring, l.file, l.bytes, &parts);
        if (errno)
            load_lost(&l, "io_uring_enter");
    }
    load_check(s, &l);
    rust_ring_counts(ring, &enters, &completed);
    l.p = parts.start;
    load_uses(s, &l);
    PHASE(s, "drop") {
        rust_drop(&parts);
        errno = rust_ring_close(ring);
        if (errno)
            load_lost(&l, "munmap or close");
        rust_close(l.file);
    }
    fact(s, "completed_bytes", completed);
    load_end(s, &l);
}

static void mapped_by(struct slot *s, bool populated)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        l.p = populated ? rust_map_populate(l.place, l.bytes, l.file) : rust_map(l.place, l.bytes, l.file);
        if (l.p == MAP_FAILED)
            load_lost(&l, "mmap");
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") {
        if (rust_unmap(l.p, l.bytes) != 0)
            load_lost(&l, "munmap");
        rust_close(l.file);
    }
    load_end(s, &l);
}

static void mapped(struct slot *s)
{
    mapped_by(s, false);
}

static void populated(struct slot *s)
{
    mapped_by(s, true);
}

METHOD(rust_load_fs_read, .experiment = "load", .name = "fs-read",
       .summary = "File::read_to_end into a Vec, as std::fs::read does. Naive and idiomatic.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY,
       .laws = KEPT_LAWS "; " USE_FAULTS " == 0",
       .calls = "open:openat bring:mmap?,brk?,read,statx?,lseek?,munmap?,mremap? drop:munmap?,brk?,close", .run = fs_read);

METHOD(rust_load_read_at_threads, .experiment = "load", .name = "read-at-threads",
       .summary = "vec![0; n], filled by FileExt::read_exact_at in a scoped thread for each processor. Idiomatic.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = COPY_LAWS,
       .calls = "open:openat bring:mmap?,brk?,pread64+,sched_getaffinity?,openat?,read?,statx?,close?,fstat?,newfstatat?,lseek?,"
                "sigaltstack?,mprotect?,clone3?,clone?,rt_sigprocmask?,madvise?,munmap?,futex? drop:munmap?,brk?,close",
       .run = read_at_threads);

METHOD(rust_load_mmap, .experiment = "load", .name = "mmap-lazy",
       .summary = "A shared mapping as the crate memmap2 makes it: each page is found when it is used.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = LAZY_FILE_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = mapped);

METHOD(rust_load_mmap_populate, .experiment = "load", .name = "mmap-populate",
       .summary = "A shared mapping as memmap2's MmapOptions::populate makes it: all is read and mapped before the first use.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = POPULATED_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = populated);

METHOD(rust_load_io_uring, .experiment = "load", .name = "io_uring",
       .summary = "vec![0; n], filled through the page cache by an io_uring of reads of 1 MiB, eight at once. Idiomatic.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = COPY_LAWS "; completed_bytes == bytes",
       .calls = "open:openat,io_uring_setup,mmap,brk? bring:mmap?,brk?,io_uring_enter drop:munmap,brk?,close", .run = by_ring);
