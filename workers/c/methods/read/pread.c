#include "read_call.h"

static void run(struct slot *s)
{
    struct input in;
    read_begin(s, &in, key_size(s, "chunk"), 1);
    const char *path = in.path;
    char *buffer = in.buffer;
    int fd = -1;
    PHASE(s, "open") { fd = open(path, O_RDONLY | O_CLOEXEC); }
    check_open(s, fd, "open");
    PHASE(s, "read") {
        for (size_t i = 0; i < in.steps && !in.error; i++) {
            size_t offset = step_offset(&in, i), want = bytes_at(&in, offset), have = 0;
            READ_STEP(&in, want, have, pread(fd, buffer + have, want - have, (off_t)(offset + have)));
            consume(&in.sink, buffer, have);
        }
    }
    check_pass(s, &in, "pread");
    int left;
    PHASE(s, "close") { left = close(fd); }
    check_done(s, left, "close");
    read_end(s, &in, 0);
}

METHOD(read_pread, .experiment = "read", .name = "pread",
       .summary = "pread(2) into one buffer of `chunk` bytes, each at its own offset.",
       .phases = READ_PHASES, .keys = CHUNK_KEYS, .memory = "chunk + bytes / 1024", .laws = CALL_LAWS,
       .calls = "open:openat read:pread64 close:close", .run = run);
