#include "files.h"
#include <sys/stat.h>

static void run(struct slot *s)
{
    struct files f;
    files_begin(s, &f, false, 1);
    size_t count = f.count;
    int folder = -1, left;
    PHASE(s, "open") { folder = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }
    PHASE(s, "pass") {
        for (size_t i = 0; i < count; i++) {
            struct stat status = {0};
            int file = openat(folder, f.names[i], O_RDONLY | O_CLOEXEC);
            f.failed += fstat(file, &status) != 0;
            size_t bytes = (size_t)status.st_size;
            void *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
            f.failed += close(file) != 0;
            if (p == MAP_FAILED) {
                f.failed++;
                continue;
            }
            files_use(&f, i, p, bytes);
            f.failed += munmap(p, bytes) != 0;
        }
    }
    files_proofs(s, &f, "openat, fstat, mmap, close or munmap");
    PHASE(s, "close") { left = close(folder); }
    check_done(s, left, "close");
    files_end(&f);
}

METHOD(files_mmap, .experiment = "files", .name = "mmap",
       .summary = "Open each file, ask for its size, map it, close it, use it, unmap it.", .phases = FILES_PHASES,
       .keys = FILES_KEYS, .memory = FILES_MEMORY,
       .laws = FILES_LAWS "; calls_counted == 1: read_calls == 0; pass.minor_faults + pass.major_faults >= files",
       .calls = "open:openat pass:openat,fstat?,newfstatat?,statx?,mmap,close,munmap close:close", .run = run);
