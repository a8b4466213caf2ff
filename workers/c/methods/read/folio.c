/* How large the folios of cached pages are, as /proc/kpageflags has it: only the administrator may see page frames. */
#include "cache.h"
#include <fcntl.h>

enum { LOOKED_AT = 4096, AT_ONCE = 512, TAIL = 16 }; /* pages; KPF_COMPOUND_TAIL (admin-guide/mm/pagemap.rst) */

struct folios {
    size_t seen, heads, largest; /* pages that were looked at, those that begin a folio, and most pages of one */
};

/* Counts the pages of one run of frames that follow each other. */
static void count_run(struct folios *f, size_t *run, const uint64_t *flags, size_t pages)
{
    for (size_t i = 0; i < pages; i++) {
        bool head = !(flags[i] >> TAIL & 1);
        f->seen++;
        f->heads += head;
        *run = head ? 1 : *run + 1;
        f->largest = *run > f->largest ? *run : f->largest;
    }
}

/* Asked for as many pages at a time as the kernel answers: a call for each took longer than some methods. */
static struct folios look(const char *p, size_t page, size_t pages)
{
    uint64_t entries[AT_ONCE], flags[AT_ONCE], number = (UINT64_C(1) << 55) - 1;
    struct folios f = {0};
    size_t run = 0, have = 0;
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), kinds = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
    for (size_t at = 0; map >= 0 && kinds >= 0 && at < pages; at += have) {
        size_t want = pages - at < AT_ONCE ? pages - at : AT_ONCE;
        ssize_t got = pread(map, entries, want * sizeof *entries, (off_t)(((uintptr_t)p / page + at) * sizeof *entries));
        if (got < (ssize_t)sizeof *entries)
            break;
        have = (size_t)got / sizeof *entries;
        for (size_t i = 0, end; i < have; i = end) {
            uint64_t first = entries[i] & number;
            for (end = i + 1; first && end < have && (entries[end] & number) == first + (end - i);)
                end++;
            size_t size = (end - i) * sizeof *flags;
            if (first && pread(kinds, flags, size, (off_t)(first * sizeof *flags)) == (ssize_t)size)
                count_run(&f, &run, flags, end - i);
        }
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
