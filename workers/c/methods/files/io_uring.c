#include "linked.h"

static void run(struct slot *s)
{
    struct files f;
    struct ring ring;
    ring_begin(s, &ring, LINKED_FILES * LINKED_STEPS, RING_PLAIN);
    files_begin(s, &f, false, LINKED_FILES);
    int folder = -1, error = 0, left;
    bool fine = true;
    PHASE(s, "open") {
        folder = open(f.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        error = linked_open(&ring);
    }
    ring_check(s, &ring, error);
    PHASE(s, "pass") {
        for (size_t i = 0; i < f.count && fine; i += LINKED_FILES) {
            size_t turns = f.count - i < LINKED_FILES ? f.count - i : LINKED_FILES;
            for (size_t k = 0; k < turns; k++)
                linked_queue(&ring, &f, folder, i + k, (unsigned)k);
            fine = linked_finish(&ring);
            for (size_t k = 0; k < turns; k++)
                files_use(&f, i + k, f.buffer + k * f.bytes, f.bytes);
        }
    }
    if (!fine && (errno == EBADF || errno == EINVAL || errno == ECANCELED))
        skip(s, "this kernel's io_uring cannot read what the request before opens (Linux 5.18)");
    f.failed = !fine;
    files_proofs(s, &f, "io_uring_enter");
    fact(s, "enters", ring.enters);
    fact(s, "completions", ring.completions);
    fact(s, "completed_bytes", ring.completed_bytes);
    PHASE(s, "close") {
        left = uring_close(&ring);
        left |= close(folder);
    }
    check_done(s, left, "munmap, close");
    ring_free(&ring);
    files_end(&f);
}

METHOD(files_io_uring, .experiment = "files", .name = "io_uring",
       .summary = "Per file three linked requests (open, read of its known size, close), 32 files by one call.",
       .phases = FILES_PHASES, .keys = FILES_KEYS, .memory = FILES_MEMORY " + 32 * bytes",
       .laws = FILES_LAWS "; calls_counted == 1: read_calls == 0; completions == 3 * files; completed_bytes == total_bytes; "
                          "enters >= (files + 31) / 32",
       .calls = "open:openat,io_uring_setup,mmap,io_uring_register pass:io_uring_enter close:munmap,close", .run = run);
