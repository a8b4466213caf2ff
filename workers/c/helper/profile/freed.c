/* See freed.h. */
#include "freed.h"
#include <stddef.h>

/* The place of the smallest block of at least so many bytes; of the smallest of all where there is none. */
static int best_block(const struct freed *f, uint64_t bytes)
{
    int best = 0;
    for (int i = 0; i < FREED_BLOCKS; i++) {
        bool fits = f->bytes[i] >= bytes, best_fits = f->bytes[best] >= bytes;
        if (fits > best_fits || (fits == best_fits && f->bytes[i] < f->bytes[best]))
            best = i;
    }
    return best;
}

void freed_add(struct freed *f, uint64_t bytes, bool unwritten)
{
    int place = best_block(f, UINT64_MAX);
    f->bytes[place] = bytes;
    f->unwritten[place] = unwritten;
}

enum kept freed_take(struct freed *f, uint64_t bytes)
{
    int place = best_block(f, bytes);
    if (f->bytes[place] < bytes)
        return NOT_KEPT;
    f->bytes[place] -= bytes;
    return f->unwritten[place] ? KEPT_UNWRITTEN : KEPT;
}

enum kept freed_grow(struct freed *f, uint64_t bytes)
{
    /* It grows by a little more than is asked for: M_TOP_PAD and a page. */
    bytes -= bytes / 16 < 33 * 4096 ? bytes / 16 : 33 * 4096;
    enum kept kept = freed_take(f, bytes);
    if (kept)
        return kept;
    uint64_t all = 0, unwritten = 0, wanted = bytes;
    for (int i = 0; i < FREED_BLOCKS; i++)
        all += f->bytes[i];
    if (all < bytes)
        return NOT_KEPT;
    for (int i = 0; bytes > 0; i++) {
        uint64_t part = f->bytes[i] < bytes ? f->bytes[i] : bytes;
        f->bytes[i] -= part;
        bytes -= part;
        unwritten += f->unwritten[i] ? part : 0;
    }
    return unwritten > wanted / 2 ? KEPT_UNWRITTEN : KEPT;
}
