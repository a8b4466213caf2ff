#include "restore.h"

static void run(struct slot *s)
{
    struct guest g = guest_begin(s, NO_FILE);
    int file = filled_memory_file(s, &g, 0);
    PHASE(s, "map") { guest_map(&g, MAP_PRIVATE, file); }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    close(file);
    guest_end(s, &g);
}

METHOD(restore_memfd_private, .experiment = "restore", .name = "memfd-private",
       .summary = "A private mapping of a memory file that holds the snapshot: a clone of what is in memory already.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "2 * clones * bytes",
       .laws = RESTORE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap end:munmap", .run = run);
