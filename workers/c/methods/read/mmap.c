#include "map.h"

/* Where no flag fixes the address, the kernel chooses it. */
static SHARED_BODY void run(struct slot *s, int flags)
{
    struct input in;
    char *at = NULL, *p = MAP_FAILED;
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))
        at = map_begin(s, &in);
    else
        read_begin(s, &in, WHOLE, 0);
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, flags, fd, 0);
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

static void lazy(struct slot *s) { run(s, MAP_PRIVATE | MAP_FIXED_NOREPLACE); }
METHOD(read_mmap, .experiment = "read", .name = "mmap",
       .summary = "Map the file and go through it: the kernel reads ahead, and one fault maps the cached pages around it.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = MAP_LAWS "; " PLAIN_LAWS "; " LAZY_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = lazy);

static void populate(struct slot *s) { run(s, MAP_PRIVATE | MAP_POPULATE | MAP_FIXED_NOREPLACE); }
METHOD(read_mmap_populate, .experiment = "read", .name = "mmap-populate",
       .summary = "Map privately with MAP_POPULATE: everything is read and mapped within the one call.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = POPULATE_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = populate);

static void populate_fixed(struct slot *s) { run(s, MAP_PRIVATE | MAP_POPULATE | MAP_FIXED); }
METHOD(read_mmap_populate_fixed, .experiment = "read", .name = "mmap-populate-fixed", .role = "published",
       .summary = "The P3 job as published: MAP_PRIVATE, MAP_POPULATE and MAP_FIXED at an address of one's own choice.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024", .laws = POPULATE_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = populate_fixed);

static void shared(struct slot *s) { run(s, MAP_SHARED); }
METHOD(read_mmap_published, .experiment = "read", .name = "mmap-published", .role = "published",
       .summary = "The P3 job as published: the file mapped by MAP_SHARED wherever the kernel likes, and gone through.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " LAZY_LAWS "; shared_mapping == 1; sequential_advice == 0; random_advice == 0",
       .calls = "open:openat,mmap close:munmap,close", .run = shared);
