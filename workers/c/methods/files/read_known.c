#include "files.h"

static void run(struct slot *s)
{
    struct files f;
    files_begin(s, &f, false, 1);
    size_t count = f.count, bytes = f.bytes;
    char *buffer = f.buffer;
    int folder = -1, left;
    PHASE(s, "open") { folder = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }
    PHASE(s, "pass") {
        for (size_t i = 0; i < count; i++) {
            int file = openat(folder, f.names[i], O_RDONLY | O_CLOEXEC);
            f.failed += read(file, buffer, bytes) != (ssize_t)bytes;
            f.failed += close(file) != 0;
            files_use(&f, i, buffer, bytes);
        }
    }
    files_proofs(s, &f, "openat, read or close");
    PHASE(s, "close") { left = close(folder); }
    check_done(s, left, "close");
    files_end(&f);
}

METHOD(files_read_known, .experiment = "files", .name = "read-known",
       .summary = "Open each file, one read of its known size, close it: an index has the sizes.", .phases = FILES_PHASES,
       .keys = FILES_KEYS, .memory = FILES_MEMORY, .laws = FILES_LAWS "; calls_counted == 1: read_calls == files",
       .calls = "open:openat pass:openat,read,close close:close", .run = run);
