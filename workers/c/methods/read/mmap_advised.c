#include "map.h"

static SHARED_BODY void run(struct slot *s, int advice)
{
    struct input in;
    if (advice == MADV_RANDOM && !random_block(s))
        skip(s, "MADV_RANDOM forbids reading ahead, which makes a sequential pass many times slower: take order=random");
    char *at = map_begin(s, &in), *p = MAP_FAILED;
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1, advised = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
        advised = madvise(p, bytes, advice);
    }
    bool populates = advice == MADV_POPULATE_READ;
    map_check(s, &in, fd, p, populates ? 0 : advised);
    if (populates && advised != 0 && errno == EINVAL)
        skip(s, "this kernel has no MADV_POPULATE_READ (Linux 5.14)");
    if (populates && advised != 0)
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

static void sequential(struct slot *s) { run(s, MADV_SEQUENTIAL); }
METHOD(read_mmap_sequential, .experiment = "read", .name = "mmap-sequential",
       .summary = "Map the file, say MADV_SEQUENTIAL: more is read ahead, and pages behind may go soon.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " LAZY_LAWS "; shared_mapping == 0; sequential_advice == 1; random_advice == 0",
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = sequential);

static void willneed(struct slot *s) { run(s, MADV_WILLNEED); }
METHOD(read_mmap_willneed, .experiment = "read", .name = "mmap-willneed",
       .summary = "Map the file, say MADV_WILLNEED: reading ahead begins at once, within the limits of read-ahead.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " PLAIN_LAWS "; cache=cold: resident_after_open_bytes > 0; "
                        "cache=dropped: resident_after_open_bytes > 0",
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = willneed);

static void random_order(struct slot *s) { run(s, MADV_RANDOM); }
METHOD(read_mmap_random, .experiment = "read", .name = "mmap-random",
       .summary = "Map the file, say MADV_RANDOM: nothing is read ahead, each fault brings its own page.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " LAZY_LAWS "; shared_mapping == 0; sequential_advice == 0; random_advice == 1",
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = random_order);

static void populate(struct slot *s) { run(s, MADV_POPULATE_READ); }
METHOD(read_mmap_populate_read, .experiment = "read", .name = "mmap-populate-read",
       .summary = "Map the file, then read and map all of it by MADV_POPULATE_READ, which reports errors.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = POPULATE_LAWS,
       .calls = "open:openat,mmap,madvise close:munmap,close", .run = populate);
