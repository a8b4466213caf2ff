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
        advised = madvise(p, bytes, MADV_SEQUENTIAL);
    }
    map_check(s, &in, fd, p, advised);
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

METHOD(read_mmap_sequential, .experiment = "read", .name = "mmap-sequential",
       .summary = "Map the file, say MADV_SEQUENTIAL: more is read ahead, and pages behind may go soon.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " LAZY_LAWS "; shared_mapping == 0; sequential_advice == 1; random_advice == 0",
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = run);
