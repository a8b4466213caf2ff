#include "restore.h"

/* The least this machine can take: the set is read once, into memory that is there, and the touches find all of their pages. */
static void run(struct slot *s)
{
    struct guest g = guest_begin(s, SNAPSHOT_AND_SET);
    size_t set_bytes = g.count * g.page;
    guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1); /* first of all: its place is free until something else is mapped */
    guest_check(s, &g);
    char *pages = mmap(NULL, set_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, pages);
    pattern_fill(g.p, g.bytes, s->seed);
    PHASE(s, "map") {
        if (!read_all(g.compact, pages, set_bytes, 0))
            guest_lost(&g, "pread");
    }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    munmap(pages, set_bytes);
    guest_end(s, &g);
}

METHOD(restore_limit, .experiment = "restore", .name = "limit", .role = "limit",
       .summary = "The same touches over resident memory, and one pread() of the set into memory that is there.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "2 * clones * bytes",
       .laws = FILE_LAWS "; first.minor_faults + work.minor_faults == 0",
       .calls = "map:pread64 end:munmap", .run = run);
