/* How large the folios of cached pages are, as /proc/kpageflags has it: only the administrator may see page frames. */
#include "cache.h"
#include <fcntl.h>

enum { LOOKED_AT = 4096, TAIL = 16 }; /* pages; KPF_COMPOUND_TAIL (admin-guide/mm/pagemap.rst) */

struct folios {
    size_t seen, heads, largest; /* pages that were looked at, those that begin a folio, and most pages of one */
};

static struct folios look(const char *p, size_t page, size_t pages)
{
    uint64_t entry, flags;
    struct folios f = {0};
    size_t run = 0;
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), kinds = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; map >= 0 && kinds >= 0 && i < pages; i++) {
        if (pread(map, &entry, sizeof entry, (off_t)(((uintptr_t)p / page + i) * sizeof entry)) != sizeof entry)
            break;
        uint64_t frame = entry & ((UINT64_C(1) << 55) - 1);
        if (!frame || pread(kinds, &flags, sizeof flags, (off_t)(frame * sizeof flags)) != sizeof flags)
            continue;
        bool head = !(flags >> TAIL & 1);
        f.seen++;
        f.heads += head;
        run = head ? 1 : run + 1;
        f.largest = run > f.largest ? run : f.largest;
    }
    if (map >= 0)
        close(map);
    if (kinds >= 0)
        close(kinds);
    return f;
}

void folio_facts(struct slot *s, int descriptor, size_t bytes, size_t around)
{
    size_t page = s->page_bytes, all = (bytes + page - 1) / page, pages = all < LOOKED_AT ? all : LOOKED_AT;
    size_t piece = s->huge_page_bytes > around ? s->huge_page_bytes : around;
    if (!s->proofs)
        return;
    char *p = mmap(NULL, pages * page, PROT_READ, MAP_SHARED | MAP_POPULATE, descriptor, 0);
    struct folios f = p == MAP_FAILED ? (struct folios){0} : look(p, page, pages);
    if (p != MAP_FAILED)
        munmap(p, pages * page);
    if (f.heads)
        fact(s, "folio_bytes", f.seen * page / f.heads);
    if (f.seen == all)
        piece = f.largest * page > around ? f.largest * page : around;
    fact(s, "fault_piece_bytes", piece);
}
