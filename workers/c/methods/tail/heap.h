/* malloc() of so many bytes, a write to the first, free(): each timed by itself. */
#ifndef PAGEWISE_TAIL_HEAP_H
#define PAGEWISE_TAIL_HEAP_H
#include "tail.h"
#include <stdlib.h>

static inline void malloc_and_free(struct slot *s, size_t bytes)
{
    struct tail t = tail_begin(s);
    size_t failed = 0;
    char mark = (char)(s->seed | 1);
    TAIL_TRIAL(&t, {
        volatile char *p = malloc(bytes);
        failed += !p || (*p = mark) != mark;
        free((void *)p);
    });
    PHASE(s, "each") {
        TAIL_LOOP(&t, {
            volatile char *p = malloc(bytes);
            failed += !p || (*p = mark) != mark;
            free((void *)p);
        });
    }
    check_done(s, failed != 0, "malloc");
    tail_end(s, &t);
}
#endif
