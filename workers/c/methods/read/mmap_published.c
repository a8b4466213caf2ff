#include "map.h"

static void run(struct slot *s)
{
    struct input in;
    char *p = MAP_FAILED;
    read_begin(s, &in, WHOLE, 0);
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    }
    map_check(s, &in, fd, p, 0);
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

METHOD(read_mmap_published, .experiment = "read", .name = "mmap-published", .role = "published",
       .summary = "The P3 job as published: the file mapped by MAP_SHARED wherever the kernel likes, and gone through.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " LAZY_LAWS "; shared_mapping == 1; sequential_advice == 0; random_advice == 0",
       .calls = "open:openat,mmap close:munmap,close", .run = run);
