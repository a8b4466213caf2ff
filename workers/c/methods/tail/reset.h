/* Cycles of a small piece of memory: 16 of its pages are written to, and it is as before again. */
#ifndef PAGEWISE_TAIL_RESET_H
#define PAGEWISE_TAIL_RESET_H
#include "image.h"

enum { RESET_PAGES = 16 };
#define TAIL_RESET_LAWS TAIL_LAWS "; right_bytes == image_bytes"

static inline void dirty(volatile char *p, size_t page, char mark)
{
    for (size_t at = 0; at < RESET_PAGES; at++)
        p[at * page] = mark;
}
#endif
