/* The untimed halves of the Rust methods of `load`; the uses of the records are the native worker's. */
#include "methods/load/load.h"
#include "files.h"

struct parts {
    char *start;
    size_t bytes, capacity;
};
IN_RUST bool rust_read_to_end(int descriptor, struct parts *parts);
IN_RUST void rust_drop(const struct parts *parts);

static void fs_read(struct slot *s)
{
    need_memory(s);
    struct load l = load_begin(s);
    struct parts parts = {0};
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        if (!rust_read_to_end(l.file, &parts))
            load_lost(&l, "read");
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

static void mapped(struct slot *s)
{
    struct load l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        l.p = rust_map(l.place, l.bytes, l.file);
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

METHOD(rust_load_fs_read, .experiment = "load", .name = "fs-read",
       .summary = "File::read_to_end into a Vec, as std::fs::read does. Naive and idiomatic.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY,
       .laws = KEPT_LAWS "; answer.minor_faults + first-use.minor_faults == 0",
       .calls = "open:openat bring:mmap?,brk?,read,statx?,lseek?,munmap?,mremap? drop:munmap?,brk?,close", .run = fs_read);

METHOD(rust_load_mmap, .experiment = "load", .name = "mmap-lazy",
       .summary = "A shared mapping as the crate memmap2 makes it: each page is found when it is used.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = MAPPED_FILE_LAWS,
       .calls = "open:openat bring:mmap drop:munmap,close", .run = mapped);
