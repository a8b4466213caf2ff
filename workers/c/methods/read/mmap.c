#include "map.h"

static void run(struct slot *s)
{
    struct input in;
    read_begin(s, &in, WHOLE, 0);
    const char *path = in.path;
    size_t bytes = in.bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    }
    check_open(s, fd, "open");
    check_map(s, p);
    PHASE(s, "read") { map_pass(&in, p); }
    check_pass(s, &in, "mmap");
    map_proofs(s, &in, p);
    PHASE(s, "close") {
        munmap(p, bytes);
        close(fd);
    }
    read_end(s, &in, 0);
}

METHOD(read_mmap, .experiment = "read", .name = "mmap",
       .summary = "Map the file and go through it: the kernel reads ahead, and one fault maps the cached pages around it.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = MAP_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = run);
