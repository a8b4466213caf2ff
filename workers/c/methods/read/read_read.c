#include "read_call.h"

static void run(struct slot *s)
{
    struct input in;
    read_begin(s, &in, key_size(s, "chunk"), 1);
    const char *path = in.path;
    char *buffer = in.buffer;
    bool seek = in.blocks != NULL;
    int fd = -1;
    PHASE(s, "open") { fd = open(path, O_RDONLY | O_CLOEXEC); }
    check_open(s, fd, "open");
    PHASE(s, "read") {
        for (size_t i = 0; i < in.steps && !in.error; i++) {
            size_t offset = step_offset(&in, i), want = bytes_at(&in, offset), have = 0;
            if (seek)
                lseek(fd, (off_t)offset, SEEK_SET);
            READ_STEP(&in, want, have, read(fd, buffer + have, want - have));
            consume(&in.sink, buffer, have);
        }
    }
    check_pass(s, &in, "read");
    int left;
    PHASE(s, "close") { left = close(fd); }
    check_done(s, left, "close");
    read_end(s, &in, seek ? in.steps : 0);
}

METHOD(read_read, .experiment = "read", .name = "read",
       .summary = "read(2) into one buffer of `chunk` bytes; in random order lseek(2) before each.",
       .phases = READ_PHASES, .keys = CHUNK_KEYS, .memory = "chunk + bytes / 1024", .laws = CALL_LAWS,
       .calls = "open:openat read:read,lseek? close:close", .run = run);
