#include "share.h"

/* It has no name, so the second process is a child, which inherits the mapping with no page mapped. It cannot attach again;
 * each of its first times is a child's of its own. */
static void reads(struct slot *s, void *seat)
{
    struct seat *b = seat;
    second_read(s, b);
    PHASE(s, "detach") { seat_unmap(b); }
    check_done(s, b->left, "munmap");
}

static void writes(struct slot *s, void *seat)
{
    second_write(s, seat);
}

static void populates(struct slot *s, void *seat)
{
    second_populate(s, seat);
}

static void run(struct slot *s)
{
    share_begin_alone(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    share_proof(s, p, "/dev/zero");
    share_touch(s, p);
    first_number(s, p);
    struct seat b = {.p = p, .bytes = bytes};
    run_in_child(s, reads, &b);
    run_in_child(s, writes, &b);
    run_in_child(s, populates, &b);
    first_finds(s, p);
    share_write(s, p);
    share_check_clear_read(s, p);
    int left;
    PHASE(s, "unmap") { left = munmap(p, bytes); }
    check_done(s, left, "munmap");
}

/* In a process of its own, because fork() leaves all its pages write-protected. */
METHOD(share_anon_shared, .experiment = "share", .name = "anon-shared",
       .summary = "Anonymous shared memory (MAP_SHARED|MAP_ANONYMOUS): it has no name, only forked children can share it.",
       .phases = SHARE_FIRST_PHASES "first-read write-after-read detach first-write populate " SHARE_LOOP_PHASES,
       .keys = SHARE_ALONE_KEYS, .memory = "bytes + bytes / 8", .laws = SHARE_FORKED_LAWS, .isolation = "own",
       .calls = "map:mmap populate:madvise,mlock? detach:munmap unmap:munmap", .run = run);
