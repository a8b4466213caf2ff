#include "kinds.h"
#include <sys/syscall.h>

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

/* Everything is resident once touched, in base pages, and the kernel says that it is locked. */
#define LOCK_LAWS                                                                                                      \
    NOTHING_BEFORE "; huge_bytes == 0; first-touch.rss_bytes == bytes; locked_bytes == bytes; unlocked_bytes == 0; " RE_TOUCH_LAW

static void lock_check(struct slot *s, int locked)
{
    if (locked != 0 && (errno == EPERM || errno == ENOMEM))
        skip(s, "not permitted to lock as much memory: raise it by ulimit -l, or give CAP_IPC_LOCK");
    if (locked != 0 && (errno == EINVAL || errno == ENOSYS))
        skip(s, "this kernel has no mlock2 (Linux 4.4)");
    if (locked != 0)
        fail(s, "mlock");
}

/* Giving back includes munlock(). */
static SHARED_BODY void run(struct slot *s, bool on_fault)
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
        locked = on_fault ? (int)syscall(SYS_mlock2, p, bytes, MLOCK_ONFAULT) : mlock(p, bytes);
    }
    check_done(s, !advised, "madvise");
    lock_check(s, locked);
    char mark = page_mark(s);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    fault_proofs(s, p);
    fact(s, "locked_bytes", s->proofs ? smaps_bytes(s, p, "Locked") : 0);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    int unlocked = 0;
    PHASE(s, "release") { unlocked = munlock(p, bytes); }
    if (unlocked != 0)
        fail(s, "munlock");
    fact(s, "unlocked_bytes", s->proofs ? smaps_bytes(s, p, "Locked") : 0);
    kind_unmap(s, p);
}

static void at_once(struct slot *s) { run(s, false); }
METHOD(fault_mlock, .experiment = "fault", .name = "mlock", .group = LOCKED_GROUP,
       .summary = "Map, then mlock(2), which faults every base page in and keeps it from being taken back; huge pages are forbidden.",
       .phases = "map advise first-touch re-touch release unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = FAULT_A_PAGE("advise") "; first-touch.minor_faults == 0; " LOCK_LAWS "; "
               BACKING_LAWS_WHERE("threads=1", "advise") "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise,mlock release:munlock unmap:munmap", .run = at_once);

static void as_touched(struct slot *s) { run(s, true); }
METHOD(fault_mlock_onfault, .experiment = "fault", .name = "mlock-onfault", .group = LOCKED_GROUP,
       .summary = "Map, then mlock2(MLOCK_ONFAULT): nothing is there yet, each page is locked as it is touched; no huge pages.",
       .phases = "map advise first-touch re-touch release unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = "advise.minor_faults == 0; " FAULT_A_PAGE("first-touch") "; " LOCK_LAWS "; "
               BACKING_LAWS_WHERE("threads=1", "first-touch") "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise,mlock2 release:munlock unmap:munmap", .run = as_touched);
