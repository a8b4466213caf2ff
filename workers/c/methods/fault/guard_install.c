#include "guard.h"

#ifndef MADV_GUARD_INSTALL /* Linux 6.13 */
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

__attribute__((always_inline)) static inline size_t each(char *p, size_t bytes, size_t page, int advice)
{
    size_t failed = 0, every = GUARD_EVERY * page;
    for (size_t i = every; i <= bytes; i += every)
        failed += madvise(p + i - page, page, advice) != 0;
    return failed;
}

static size_t make(char *p, size_t bytes, size_t page)
{
    return each(p, bytes, page, MADV_GUARD_INSTALL);
}

static size_t remove_all(char *p, size_t bytes, size_t page)
{
    return each(p, bytes, page, MADV_GUARD_REMOVE);
}

static void run(struct slot *s)
{
    guard_run(s, make, remove_all, "madvise", "this kernel has no MADV_GUARD_INSTALL (Linux 6.13)");
}

METHOD(fault_guard_install, .experiment = "fault", .name = "guard-install", .group = GUARD_GROUP,
       .summary = "Make one page in sixteen a guard by MADV_GUARD_INSTALL: a mark in the page table, the mapping stays one.",
       .phases = "map advise first-touch release unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = GUARD_LAWS "; mappings == 1",
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
