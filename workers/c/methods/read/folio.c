/* How large the folios of cached pages are, as /proc/kpageflags has it: only the administrator may see page frames. */
#include "cache.h"
#include <fcntl.h>

enum { LOOKED_AT = 4096, TAIL = 16 }; /* pages; KPF_COMPOUND_TAIL (admin-guide/mm/pagemap.rst) */

/* Pages among the mapped ones that begin a folio, and how many were looked at. */
static size_t heads(const char *p, size_t page, size_t pages, size_t *seen)
{
    uint64_t entry, flags;
    size_t found = 0;
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), kinds = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; map >= 0 && kinds >= 0 && i < pages; i++) {
        if (pread(map, &entry, sizeof entry, (off_t)(((uintptr_t)p / page + i) * sizeof entry)) != sizeof entry)
            break;
        uint64_t frame = entry & ((UINT64_C(1) << 55) - 1);
        if (!frame || pread(kinds, &flags, sizeof flags, (off_t)(frame * sizeof flags)) != sizeof flags)
            continue;
        ++*seen;
        found += !(flags >> TAIL & 1);
    }
    if (map >= 0)
        close(map);
    if (kinds >= 0)
        close(kinds);
    return found;
}

void folio_fact(struct slot *s, int descriptor, size_t bytes)
{
    size_t page = s->page_bytes, pages = (bytes + page - 1) / page, seen = 0;
    if (!s->proofs)
        return;
    pages = pages < LOOKED_AT ? pages : LOOKED_AT;
    char *p = mmap(NULL, pages * page, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    if (p == MAP_FAILED)
        return;
    size_t found = heads(p, page, pages, &seen);
    munmap(p, pages * page);
    if (found)
        fact(s, "folio_bytes", seen * page / found);
}
