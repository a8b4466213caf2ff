#include "map.h"

static void run(struct slot *s)
{
    struct input in;
    char *at = map_begin(s, &in), *p = MAP_FAILED;
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1, advised = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
        advised = madvise(p, bytes, MADV_POPULATE_READ);
    }
    map_check(s, &in, fd, p, 0);
    if (advised != 0 && errno == EINVAL)
        skip(s, "this kernel has no MADV_POPULATE_READ (Linux 5.14)");
    if (advised != 0)
        fail(s, "madvise");
    PHASE(s, "read") { map_pass(&in, p); }
    map_proofs(s, &in, p);
    int left;
    PHASE(s, "close") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
    read_end(s, &in, 0);
}

METHOD(read_mmap_populate_read, .experiment = "read", .name = "mmap-populate-read",
       .summary = "Map the file, then read and map all of it by MADV_POPULATE_READ, which reports errors.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = POPULATE_LAWS,
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = run);
