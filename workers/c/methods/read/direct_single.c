#include "o_direct.h"
#include "read_call.h"

static void run(struct slot *s)
{
    struct input in;
    direct_begin(s, &in, key_size(s, "chunk"), 1);
    const char *path = in.path;
    char *buffer = in.buffer;
    int fd = -1;
    PHASE(s, "open") { fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT); }
    direct_check(s, fd);
    PHASE(s, "read") {
        for (size_t i = 0; i < in.steps && !in.error; i++) {
            size_t offset = step_offset(&in, i), want = bytes_at(&in, offset), have = 0;
            READ_STEP(&in, want, have, pread(fd, buffer + have, whole_blocks(want - have), (off_t)(offset + have)));
            consume(&in.sink, buffer, want);
        }
    }
    check_pass(s, &in, "pread");
    int left;
    PHASE(s, "close") { left = close(fd); }
    check_done(s, left, "close");
    read_end(s, &in, 0);
}

METHOD(read_direct_single, .experiment = "read", .name = "direct-single",
       .summary = "O_DIRECT by one pread(2) after another: a test of the device's latency, not of what it can bring.",
       .isolation = "own", .phases = READ_PHASES, .keys = CHUNK_KEYS, .memory = "chunk + bytes / 1024",
       .laws = DIRECT_LAWS "; " BROUGHT_LAWS "; calls_counted == 1: read_calls >= (bytes + step_bytes - 1) / step_bytes",
       .calls = "open:openat read:pread64 close:close", .run = run);
