#include "files.h"

/* The bytes lie in resident anonymous memory before the clock: nothing is opened, and nothing brought. */
static void run(struct slot *s)
{
    struct files f;
    files_begin(s, &f, true, 1);
    size_t count = f.count, bytes = f.bytes, total = f.total;
    char *copy = mmap(free_range(s, total), total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, copy);
    madvise(copy, total, MADV_HUGEPAGE);
    for (size_t i = 0; i < count; i++)
        pattern_fill(copy + i * bytes, bytes, i);
    PHASE(s, "open") { }
    PHASE(s, "pass") {
        for (size_t i = 0; i < count; i++)
            files_use(&f, i, copy + i * bytes, bytes);
    }
    files_proofs(s, &f, "sum");
    PHASE(s, "close") { }
    check_done(s, munmap(copy, total), "munmap");
    files_end(&f);
}

METHOD(files_limit, .experiment = "files", .name = "limit", .role = "limit",
       .summary = "The words of all files are added up where they lie in resident memory.", .phases = FILES_PHASES,
       .keys = FILES_KEYS, .memory = "3 * files * bytes",
       .laws = "pass.ops == files; sum_wrong == 0; pass.minor_faults == 0; calls_counted == 1: read_calls == 0", .calls = "",
       .run = run);
