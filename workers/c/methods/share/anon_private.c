#include "share.h"

/* What sharing is held against: the same memory, shared with nobody. */
static void run(struct slot *s)
{
    share_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    share_proof(s, p, "");
    share_use(s, p);
    PHASE(s, "unmap") { munmap(p, bytes); }
}

METHOD(share_anon_private, .experiment = "share", .name = "anon-private", .role = "limit",
       .summary = "Anonymous private memory: what the same work costs where nothing is shared.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes",
       .laws = "shared == 0; backed_as_named == 1; " SHARE_TOUCH_LAW "; " SHARE_RESIDENT_LAWS "; " SHARE_CONTENT_LAWS,
       .calls = "map:mmap unmap:munmap", .run = run);
