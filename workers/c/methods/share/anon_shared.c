#include "share.h"

static void run(struct slot *s)
{
    share_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    share_proof(s, p, "/dev/zero");
    share_use(s, p);
    PHASE(s, "unmap") { munmap(p, bytes); }
}

METHOD(share_anon_shared, .experiment = "share", .name = "anon-shared",
       .summary = "Anonymous shared memory (MAP_SHARED|MAP_ANONYMOUS): it has no name, only forked children can share it.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .laws = SHARE_LAWS,
       .calls = "map:mmap unmap:munmap", .run = run);
