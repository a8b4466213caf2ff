/* The published P5 job, flaws included: advice before the clock, no alignment, the mapping made anew and never unmapped. */
#ifndef PAGEWISE_FAULT_PUBLISHED_H
#define PAGEWISE_FAULT_PUBLISHED_H
#include "fault.h"

#define PUBLISHED_KEYS "bytes:size release:dontneed|free backing:recycled|cold idle_ms:count"
static inline void published_run(struct slot *s, bool huge)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, p);
    if (huge)
        madvise(p, bytes, MADV_HUGEPAGE);
    struct part whole = {p, bytes, s->page_bytes, page_mark(s)};
    PHASE(s, "first-touch") { touch_pages(&whole); }
    fact_digest(s, p, bytes);
    if (madvise(p, bytes, release_advice(s)) != 0)
        fail(s, "madvise");
}
#endif
