/* See freed.h. */
#include "freed.h"
#include <stddef.h>

enum { BLOCKS = sizeof(((struct freed *)0)->bytes) / sizeof(uint64_t) };

/* The place of the smallest block of at least so many bytes; of the smallest of all where there is none. */
static uint64_t *best_block(struct freed *f, uint64_t bytes)
{
    uint64_t *best = f->bytes;
    for (uint64_t *b = f->bytes; b < f->bytes + BLOCKS; b++)
        if ((*b >= bytes) > (*best >= bytes) || ((*b >= bytes) == (*best >= bytes) && *b < *best))
            best = b;
    return best;
}

void freed_add(struct freed *f, uint64_t bytes)
{
    *best_block(f, UINT64_MAX) = bytes;
}

bool freed_take(struct freed *f, uint64_t bytes)
{
    uint64_t *block = best_block(f, bytes);
    if (*block < bytes)
        return false;
    *block -= bytes;
    return true;
}

bool freed_take_several(struct freed *f, uint64_t bytes)
{
    uint64_t all = 0;
    for (int i = 0; i < BLOCKS; i++)
        all += f->bytes[i];
    if (all < bytes)
        return false;
    for (int i = 0; bytes > 0; i++) {
        uint64_t part = f->bytes[i] < bytes ? f->bytes[i] : bytes;
        f->bytes[i] -= part;
        bytes -= part;
    }
    return true;
}
