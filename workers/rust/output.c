/* The untimed halves of the Rust methods of `output`. */
#include "methods/output/output.h"
#include "files.h"

IN_RUST int rust_write_all(int descriptor, const char *source, size_t bytes);
IN_RUST int rust_write_at_threads(int descriptor, const char *source, size_t bytes);
IN_RUST int rust_write_buffered(int descriptor, const char *source, size_t bytes);
IN_RUST void *rust_map_new(int descriptor, size_t bytes);
IN_RUST void rust_copy(char *to, const char *from, size_t bytes);

static void need_sequential(struct slot *s)
{
    if (key_is(s, "order", "pieces"))
        skip(s, "these write from the first byte to the last: order=sequential");
}

static void by_calls(struct slot *s, int (*write_all)(int descriptor, const char *source, size_t bytes))
{
    need_sequential(s);
    struct output o = output_begin(s);
    const char *source = o.source;
    size_t bytes = o.bytes;
    int error = 0;
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { }
    PHASE(s, "fill") { error = write_all(o.file, source, bytes); }
    if ((errno = error) != 0)
        fail(s, "write");
    PHASE(s, "finish") { rust_close(o.file); }
    output_end(s, &o);
}

static void fs_write(struct slot *s)
{
    by_calls(s, rust_write_all);
}

static void write_at_threads(struct slot *s)
{
    by_calls(s, rust_write_at_threads);
}

static void buf_writer(struct slot *s)
{
    by_calls(s, rust_write_buffered);
}

static void mapped(struct slot *s)
{
    need_sequential(s);
    struct output o = output_begin(s);
    const char *source = o.source;
    size_t bytes = o.bytes;
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        o.map = rust_map_new(o.file, bytes);
        if (o.map == MAP_FAILED)
            output_lost(&o, "mmap");
    }
    output_check(s, &o);
    char *map = o.map;
    PHASE(s, "fill") { rust_copy(map, source, bytes); }
    output_huge(s, &o);
    PHASE(s, "finish") {
        if (rust_unmap(map, bytes) != 0)
            output_lost(&o, "munmap");
        rust_close(o.file);
    }
    output_end(s, &o);
}

METHOD(rust_output_fs_write, .experiment = "output", .name = "fs-write",
       .summary = "write_all of the whole slice, as std::fs::write does. Idiomatic.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:write finish:close sync:fsync remove:unlinkat", .run = fs_write);

METHOD(rust_output_buf_writer, .experiment = "output", .name = "buf-writer",
       .summary = "Pieces of 4 KiB through a BufWriter of the usual 8 KiB. Naive.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS "; fill.minor_faults <= 8",
       .calls = "open:openat fill:write,brk?,mmap?,munmap? finish:close sync:fsync remove:unlinkat", .run = buf_writer);

METHOD(rust_output_write_at_threads, .experiment = "output", .name = "write-at-threads",
       .summary = "FileExt::write_all_at in a scoped thread for each processor, each its own part. Idiomatic.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = OUTPUT_LAWS "; fill.minor_faults <= 64",
       .calls = "open:openat fill:pwrite64+,sched_getaffinity?,openat?,read?,statx?,close?,fstat?,newfstatat?,lseek?,sigaltstack?,"
                "mmap?,brk?,mprotect?,clone3?,clone?,rt_sigprocmask?,madvise?,munmap?,futex? finish:close sync:fsync remove:unlinkat",
       .run = write_at_threads);

METHOD(rust_output_mmap, .experiment = "output", .name = "mmap",
       .summary = "File::set_len, a shared mapping as the crate memmap2 makes it, copy_from_slice. As linkers written in Rust do.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = MAPPED_LAWS,
       .calls = "open:openat size:ftruncate,mmap finish:munmap,close sync:fsync remove:unlinkat", .run = mapped);
