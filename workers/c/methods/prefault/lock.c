#include "prefault.h"
#include <sys/syscall.h>

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif
#define LOCK_CALLS(calls) "populate:mmap,madvise," calls TEARDOWN_CALLS

static SHARED_BODY void run(struct slot *s, int advice)
{
    struct memory m = prefault_begin(s, advice, 0);
    size_t bytes = s->bytes, there;
    char *p;
    int advised = 0;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        advised = there ? madvise(p, bytes, advice) : 0;
        on_every_thread(s, lock_part, p, there, 0);
    }
    prefault_locked(s, "mlock");
    prefault_populated(s, p, "mlock");
    prefault_advised(s, advised, advice);
    PHASE(s, "pin") { }
    prefault_rest(s, p, false);
}

static void base_pages(struct slot *s) { run(s, MADV_NOHUGEPAGE); }
METHOD(prefault_mlock, .experiment = "prefault", .name = "mlock",
       .summary = "Map, then mlock(2), each thread its own part: base pages are faulted in and locked by one call.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, "lock"), .memory = PREFAULT_MEMORY,
       .laws = "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " PREFAULT_LAWS,
       .calls = LOCK_CALLS("mlock"), .run = base_pages);

static void huge_pages(struct slot *s) { run(s, MADV_HUGEPAGE); }
METHOD(prefault_thp_mlock, .experiment = "prefault", .name = "thp-mlock",
       .summary = "Permit transparent huge pages, then mlock(2), each thread its own part.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, "lock"), .memory = PREFAULT_MEMORY, .backing_huge = true,
       .laws = HUGE_FAULT_LAW "; " HUGE_LEAST_LAWS "; " PREFAULT_LAWS,
       .calls = LOCK_CALLS("mlock"), .run = huge_pages);

static void as_touched(struct slot *s)
{
    struct memory m = prefault_begin(s, MADV_NOHUGEPAGE, 0);
    size_t bytes = s->bytes, there;
    char *p, mark = page_mark(s);
    int advised = 0;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        advised = there ? madvise(p, bytes, MADV_NOHUGEPAGE) : 0;
        prefault_note(there && syscall(SYS_mlock2, p, bytes, MLOCK_ONFAULT) != 0);
        on_every_thread(s, touch_pages, p, there, mark);
    }
    prefault_locked(s, "mlock2");
    prefault_populated(s, p, "mlock2");
    prefault_advised(s, advised, MADV_NOHUGEPAGE);
    PHASE(s, "pin") { }
    prefault_rest(s, p, false);
}
METHOD(prefault_mlock_onfault, .experiment = "prefault", .name = "mlock-onfault",
       .summary = "Map, mlock2(MLOCK_ONFAULT), then write one byte to each base page: each is locked as it comes.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, "lock"), .memory = PREFAULT_MEMORY,
       .laws = "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " PREFAULT_LAWS,
       .calls = LOCK_CALLS("mlock2"), .run = as_touched);
