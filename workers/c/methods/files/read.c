#include "files.h"

static void run(struct slot *s)
{
    struct files f;
    files_begin(s, &f, false, 1);
    size_t count = f.count, room = f.buffer_bytes;
    char *buffer = f.buffer;
    int folder = -1, left;
    PHASE(s, "open") { folder = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }
    PHASE(s, "pass") {
        for (size_t i = 0; i < count; i++) {
            int file = openat(folder, f.names[i], O_RDONLY | O_CLOEXEC);
            size_t have = 0;
            ssize_t got;
            while ((got = read(file, buffer + have, room - have)) > 0)
                have += (size_t)got;
            f.failed += got != 0;
            f.failed += close(file) != 0;
            files_use(&f, i, buffer, have);
        }
    }
    files_proofs(s, &f, "openat, read or close");
    PHASE(s, "close") { left = close(folder); }
    check_done(s, left, "close");
    files_end(&f);
}

METHOD(files_read, .experiment = "files", .name = "read",
       .summary = "Open each file, read until a call brings nothing, close it: the size is not known.", .phases = FILES_PHASES,
       .keys = FILES_KEYS, .memory = FILES_MEMORY, .laws = FILES_LAWS "; calls_counted == 1: read_calls >= 2 * files",
       .calls = "open:openat pass:openat,read,close close:close", .run = run);
