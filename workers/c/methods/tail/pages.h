/* The first write to each of so many fresh pages: each timed by itself. */
#ifndef PAGEWISE_TAIL_PAGES_H
#define PAGEWISE_TAIL_PAGES_H
#include "tail.h"

/* Fresh memory for a trial and the phase. */
static inline char *fresh_pages(struct slot *s, const struct tail *t)
{
    size_t bytes = (t->ops + TRIAL_OPS) * s->page_bytes;
    char *at = free_range(s, bytes);
    char *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    return p;
}

static inline int advise_pages(struct slot *s, const struct tail *t, char *p, int advice)
{
    return madvise(p, (t->ops + TRIAL_OPS) * s->page_bytes, advice);
}

static inline void write_pages(struct slot *s, struct tail *t, char *memory)
{
    size_t page = s->page_bytes;
    char mark = (char)(s->seed | 1);
    volatile char *p = memory, *trial = p + t->ops * page;
    TAIL_TRIAL(t, trial[i * page] = mark);
    PHASE(s, "each") { TAIL_LOOP(t, p[i * page] = mark); }
    munmap(memory, (t->ops + TRIAL_OPS) * page);
    tail_end(s, t);
}
#endif
