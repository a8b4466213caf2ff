/* What the methods that lock memory share: the call, whether it may be made, the proof. */
#ifndef PAGEWISE_FAULT_LOCK_H
#define PAGEWISE_FAULT_LOCK_H
#include "kinds.h"

/* Everything is resident once touched, in base pages, and the kernel says that it is locked. */
#define LOCK_LAWS                                                                                                      \
    NOTHING_BEFORE "; huge_bytes == 0; first-touch.rss_bytes == bytes; locked_bytes == bytes; unlocked_bytes == 0; " RE_TOUCH_LAW

static inline void lock_check(struct slot *s, int locked)
{
    if (locked != 0 && (errno == EPERM || errno == ENOMEM))
        skip(s, "not permitted to lock as much memory: raise it by ulimit -l, or give CAP_IPC_LOCK");
    if (locked != 0 && (errno == EINVAL || errno == ENOSYS))
        skip(s, "this kernel has no mlock2 (Linux 4.4)");
    if (locked != 0)
        fail(s, "mlock");
}

/* Phases first-touch to unmap; munlock() is part of giving back. */
static inline void lock_rest(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
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
#endif
