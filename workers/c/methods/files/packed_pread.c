#include "files.h"

static void run(struct slot *s)
{
    struct files f;
    files_begin(s, &f, true, 1);
    size_t count = f.count, bytes = f.bytes;
    char *buffer = f.buffer;
    int file = -1, left;
    PHASE(s, "open") { file = open(f.packed, O_RDONLY | O_CLOEXEC); }
    PHASE(s, "pass") {
        for (size_t i = 0; i < count; i++) {
            f.failed += pread(file, buffer, bytes, (off_t)(i * bytes)) != (ssize_t)bytes;
            files_use(&f, i, buffer, bytes);
        }
    }
    files_proofs(s, &f, "pread");
    PHASE(s, "close") { left = close(file); }
    check_done(s, left, "close");
    files_end(&f);
}

METHOD(files_packed_pread, .experiment = "files", .name = "packed-pread",
       .summary = "All lie in one file, which stays open: one pread each.", .phases = FILES_PHASES, .keys = FILES_KEYS,
       .memory = FILES_MEMORY, .laws = FILES_LAWS "; calls_counted == 1: read_calls == files",
       .calls = "open:openat pass:pread64 close:close", .run = run);
