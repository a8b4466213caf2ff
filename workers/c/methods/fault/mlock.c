#include "lock.h"

static void run(struct slot *s)
{
    fault_begin(s);
    char *at = free_range(s, s->bytes), *p;
    size_t bytes = s->bytes;
    int locked = 0;
    bool advised = false;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") {
        advised = madvise(p, bytes, MADV_NOHUGEPAGE) == 0 || errno == EINVAL; /* EINVAL: a kernel without huge pages */
        locked = mlock(p, bytes);
    }
    check_done(s, !advised, "madvise");
    lock_check(s, locked);
    lock_rest(s, p);
}

METHOD(fault_mlock, .experiment = "fault", .name = "mlock", .group = LOCKED_GROUP,
       .summary = "Map, then mlock(2), which faults every base page in and keeps it from being taken back; huge pages are forbidden.",
       .phases = "map advise first-touch re-touch release unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = FAULT_A_PAGE("advise") "; first-touch.minor_faults == 0; " LOCK_LAWS "; "
               BACKING_LAWS_WHERE("threads=1", "advise") "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise,mlock release:munlock unmap:munmap", .run = run);
