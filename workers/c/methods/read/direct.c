#include "o_direct.h"
#include "readers.h"

static void run(struct slot *s)
{
    struct input in;
    struct readers readers;
    direct_begin(s, &in, key_size(s, "chunk"), key_size(s, "readers"));
    readers_begin(s, &readers, &in, (unsigned)key_size(s, "readers"));
    const char *path = in.path;
    int fd = -1;
    PHASE(s, "open") { fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT); }
    if (fd < 0) {
        int error = errno;
        readers_end(s, &readers);
        errno = error;
    }
    direct_check(s, fd);
    PHASE(s, "read") { readers_pass(&readers, fd); }
    readers_end(s, &readers);
    check_pass(s, &in, "pread");
    int left;
    PHASE(s, "close") { left = close(fd); }
    check_done(s, left, "close");
    read_end(s, &in, 0);
}

METHOD(read_direct, .experiment = "read", .name = "direct",
       .summary = "O_DIRECT by pread(2) in `readers` threads, each a chunk ahead of the others; the caller takes them in order.",
       .isolation = "own", .phases = READ_PHASES, .keys = CHUNK_KEYS " readers:count",
       .memory = "chunk * readers + bytes / 1024",
       .laws = DIRECT_LAWS "; " BROUGHT_LAWS "; calls_counted == 1: read_calls >= (bytes + step_bytes - 1) / step_bytes; "
                           "bytes >= 2 * step_bytes * readers & readers >= 2: most_in_flight >= 2",
       .calls = "open:openat read:pread64+,futex? close:close", .run = run);
