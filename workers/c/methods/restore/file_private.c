#include "restore.h"

static SHARED_BODY void run(struct slot *s, int populate, bool in_memory)
{
    struct guest g = guest_begin(s, in_memory ? NO_FILE : SNAPSHOT);
    int file = in_memory ? filled_memory_file(s, &g, 0) : g.snapshot;
    PHASE(s, "map") { guest_map(&g, MAP_PRIVATE | populate, file); }
    guest_check(s, &g);
    guest_work(s, &g);
    guest_rest(s, &g);
    PHASE(s, "end") { guest_unmap(&g); }
    if (in_memory)
        close(file);
    guest_end(s, &g);
}

static void lazy(struct slot *s) { run(s, 0, false); }
METHOD(restore_file_private, .experiment = "restore", .name = "file-private",
       .summary = "A private mapping of the snapshot: the kernel finds each page when it is touched, and copies it when it is written.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap end:munmap", .run = lazy);

static void populated(struct slot *s) { run(s, MAP_POPULATE, false); }
METHOD(restore_file_populate, .experiment = "restore", .name = "file-populate",
       .summary = "A private mapping with MAP_POPULATE: a writable one is copied as a whole before the guest begins.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "clones * bytes",
       .laws = FILE_LAWS "; private_bytes == clones * bytes; first.minor_faults + work.minor_faults == 0",
       .calls = "map:mmap end:munmap", .run = populated);

static void in_memory(struct slot *s) { run(s, 0, true); }
METHOD(restore_memfd_private, .experiment = "restore", .name = "memfd-private",
       .summary = "A private mapping of a memory file that holds the snapshot: a clone of what is in memory already.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "2 * clones * bytes",
       .laws = RESTORE_LAWS "; private_bytes == written_pages * page_bytes",
       .calls = "map:mmap end:munmap", .run = in_memory);
