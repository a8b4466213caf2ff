#include "files.h"

static void run(struct slot *s)
{
    struct files f;
    files_begin(s, &f, true, 1);
    size_t count = f.count, bytes = f.bytes, total = f.total;
    char *p = MAP_FAILED, *at = free_range(s, total);
    int left;
    PHASE(s, "open") {
        int file = open(f.packed, O_RDONLY | O_CLOEXEC);
        p = mmap(at, total, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
        left = close(file);
    }
    check_map(s, p);
    check_done(s, left, "close");
    PHASE(s, "pass") {
        for (size_t i = 0; i < count; i++)
            files_use(&f, i, p + i * bytes, bytes);
    }
    files_proofs(s, &f, "mmap");
    fact(s, "mapped_bytes", resident_in(s, p, (total + s->page_bytes - 1) / s->page_bytes * s->page_bytes).rss_bytes);
    PHASE(s, "close") { left = munmap(p, total); }
    check_done(s, left, "munmap");
    files_end(&f);
}

METHOD(files_packed_mmap, .experiment = "files", .name = "packed-mmap",
       .summary = "All lie in one file, which is mapped once.", .phases = FILES_PHASES, .keys = FILES_KEYS,
       .memory = FILES_MEMORY,
       .laws = FILES_LAWS "; calls_counted == 1: read_calls == 0; 64 * mapped_bytes + 256 * page_bytes >= 63 * total_bytes",
       .calls = "open:openat,mmap,close close:munmap", .run = run);
