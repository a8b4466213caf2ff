#include "map.h"

static void run(struct slot *s)
{
    struct input in;
    if (!key_is(s, "order", "random"))
        skip(s, "MADV_RANDOM forbids reading ahead, which makes a sequential pass many times slower: take order=random");
    read_begin(s, &in, WHOLE, 0);
    const char *path = in.path;
    size_t bytes = in.bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, advised = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
        advised = madvise(p, bytes, MADV_RANDOM);
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

METHOD(read_mmap_random, .experiment = "read", .name = "mmap-random",
       .summary = "Map the file, say MADV_RANDOM: nothing is read ahead, each fault brings its own page.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " LAZY_LAWS "; shared_mapping == 0; sequential_advice == 0; random_advice == 1",
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = run);
