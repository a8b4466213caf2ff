#include "map.h"

static void run(struct slot *s)
{
    struct input in;
    char *at = map_begin(s, &in), *p = MAP_FAILED;
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
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

METHOD(read_mmap, .experiment = "read", .name = "mmap",
       .summary = "Map the file and go through it: the kernel reads ahead, and one fault maps the cached pages around it.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = MAP_LAWS "; " PLAIN_LAWS "; " LAZY_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = run);
