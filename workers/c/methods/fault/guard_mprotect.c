#include "guard.h"

__attribute__((always_inline)) static inline size_t each(char *p, size_t bytes, size_t page, int protection)
{
    size_t failed = 0, every = GUARD_EVERY * page;
    for (size_t i = every; i <= bytes; i += every)
        failed += mprotect(p + i - page, page, protection) != 0;
    return failed;
}

static size_t make(char *p, size_t bytes, size_t page)
{
    return each(p, bytes, page, PROT_NONE);
}

static size_t remove_all(char *p, size_t bytes, size_t page)
{
    return each(p, bytes, page, PROT_READ | PROT_WRITE);
}

static void run(struct slot *s)
{
    guard_run(s, make, remove_all, "mprotect", "mprotect was refused");
}

METHOD(fault_guard_mprotect, .experiment = "fault", .name = "guard-mprotect", .group = GUARD_GROUP,
       .summary = "Make one page in sixteen a guard by mprotect(PROT_NONE): each splits the mapping.",
       .phases = "map advise first-touch release unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = GUARD_LAWS "; mappings == 2 * " GUARDS,
       .calls = "map:mmap advise:mprotect release:mprotect unmap:munmap", .run = run);
