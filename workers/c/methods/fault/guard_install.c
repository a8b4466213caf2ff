#include "guard.h"

#ifndef MADV_GUARD_INSTALL /* Linux 6.13 */
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

__attribute__((always_inline)) static inline size_t advise_each(char *p, size_t bytes, size_t page, int advice)
{
    size_t failed = 0, every = GUARD_EVERY * page;
    for (size_t i = every; i <= bytes; i += every)
        failed += madvise(p + i - page, page, advice) != 0;
    return failed;
}

__attribute__((always_inline)) static inline size_t protect_each(char *p, size_t bytes, size_t page, int protection)
{
    size_t failed = 0, every = GUARD_EVERY * page;
    for (size_t i = every; i <= bytes; i += every)
        failed += mprotect(p + i - page, page, protection) != 0;
    return failed;
}

static size_t install(char *p, size_t bytes, size_t page)
{
    return advise_each(p, bytes, page, MADV_GUARD_INSTALL);
}

static size_t uninstall(char *p, size_t bytes, size_t page)
{
    return advise_each(p, bytes, page, MADV_GUARD_REMOVE);
}

static size_t forbid(char *p, size_t bytes, size_t page)
{
    return protect_each(p, bytes, page, PROT_NONE);
}

static size_t permit(char *p, size_t bytes, size_t page)
{
    return protect_each(p, bytes, page, PROT_READ | PROT_WRITE);
}

static void advised(struct slot *s)
{
    guard_run(s, install, uninstall, "madvise", "this kernel has no MADV_GUARD_INSTALL (Linux 6.13)");
}
METHOD(fault_guard_install, .experiment = "fault", .name = "guard-install", .group = GUARD_GROUP,
       .summary = "Make one page in sixteen a guard by MADV_GUARD_INSTALL: a mark in the page table, the mapping stays one.",
       .phases = "map advise first-touch release unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = GUARD_LAWS "; mappings == 1",
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = advised);

static void protected(struct slot *s)
{
    guard_run(s, forbid, permit, "mprotect", "mprotect was refused");
}
METHOD(fault_guard_mprotect, .experiment = "fault", .name = "guard-mprotect", .group = GUARD_GROUP,
       .summary = "Make one page in sixteen a guard by mprotect(PROT_NONE): each splits the mapping.",
       .phases = "map advise first-touch release unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = GUARD_LAWS "; mappings == 2 * " GUARDS,
       .calls = "map:mmap advise:mprotect release:mprotect unmap:munmap", .run = protected);
