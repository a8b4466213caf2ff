/* `hold BYTES base|huge|pool POOL_PAGE_BYTES no|lock SHARING PARENT`: has so much memory resident, tells on standard input (a
 * socket) how many bytes are there, and ends when a byte comes back. Memory that has a descriptor comes as descriptor 3. */
#include "core.h"
#include "helper/verb.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

static int lacks(const char *call)
{
    dprintf(2, "hold: %s: %s\n", call, strerror(errno));
    return 3;
}

static uint64_t present(char *p, size_t bytes, size_t page)
{
    unsigned char there[4096];
    uint64_t pages = 0;
    for (size_t at = 0; at < bytes; at += sizeof there * page) {
        size_t left = (bytes - at) / page, count = left < sizeof there ? left : sizeof there;
        if (mincore(p + at, count * page, there) != 0)
            return 0;
        for (size_t i = 0; i < count; i++)
            pages += there[i] & 1;
    }
    return pages * page;
}

static int hold_main(int argc, char **argv)
{
    size_t bytes = strtoull(argv[0], NULL, 10), pool = strtoull(argv[2], NULL, 10), page = (size_t)sysconf(_SC_PAGESIZE);
    bool huge = strcmp(argv[1], "huge") == 0, locked = strcmp(argv[3], "lock") == 0;
    bool private = strcmp(argv[4], "private") == 0;
    int descriptor = strcmp(argv[4], "memfd") == 0 || strcmp(argv[4], "shm") == 0 ? 3 : -1;
    int flags = (private ? MAP_PRIVATE : MAP_SHARED) | (descriptor < 0 ? MAP_ANONYMOUS : 0);
    (void)argc;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != atoi(argv[5]))
        return 3;
    if (pool && descriptor < 0)
        flags |= MAP_HUGETLB | POOL_OF(pool);
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (p == MAP_FAILED)
        return lacks("mmap");
    if (!pool && madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0 && errno != EINVAL)
        return lacks("madvise");
    for (size_t at = 0; at < bytes; at += page)
        *(volatile char *)(p + at) = 1;
    if (locked && !pool && mlock(p, bytes) != 0)
        return lacks("mlock");
    uint64_t there = present(p, bytes, page);
    char end;
    if (write(0, &there, sizeof there) != sizeof there)
        return lacks("write");
    return read(0, &end, 1) == 1 ? 0 : lacks("read");
}

VERB("hold", "BYTES base|huge|pool POOL_PAGE_BYTES no|lock SHARING PARENT", hold_main);
