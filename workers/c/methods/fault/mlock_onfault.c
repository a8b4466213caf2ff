#include "lock.h"
#include <sys/syscall.h>

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

static void run(struct slot *s)
{
    fault_begin(s);
    char *at = free_range(s, s->bytes), *p;
    size_t bytes = s->bytes;
    long locked = 0;
    bool advised = false;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") {
        advised = madvise(p, bytes, MADV_NOHUGEPAGE) == 0 || errno == EINVAL; /* EINVAL: a kernel without huge pages */
        locked = syscall(SYS_mlock2, p, bytes, MLOCK_ONFAULT);
    }
    check_done(s, !advised, "madvise");
    lock_check(s, (int)locked);
    lock_rest(s, p);
}

METHOD(fault_mlock_onfault, .experiment = "fault", .name = "mlock-onfault", .group = LOCKED_GROUP,
       .summary = "Map, then mlock2(MLOCK_ONFAULT): nothing is there yet, each page is locked as it is touched; no huge pages.",
       .phases = "map advise first-touch re-touch release unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = "advise.minor_faults == 0; " FAULT_A_PAGE("first-touch") "; " LOCK_LAWS "; "
               BACKING_LAWS_WHERE("threads=1", "first-touch") "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise,mlock2 release:munlock unmap:munmap", .run = run);
