/* What the `fault` methods share: their parameters, the laws of base and huge pages, the touch, giving back, the proofs. */
#ifndef PAGEWISE_FAULT_H
#define PAGEWISE_FAULT_H
#include "others.h"

#define FAULT_PHASES "map advise first-touch re-touch release refault unmap"
#define FAULT_KEYS                                                                                                     \
    "bytes:size release:dontneed|free|cold|pageout threads:count processes:count backing:recycled|cold idle_ms:count" \
    " frames:cached|memory|swept running:count"
#define FAULT_THREADS_LAWS THREADS_LAWS "; " BYSTANDER_LAWS "; " EMPTIED_LAWS "; " SAME_FRAMES_LAW
#define RE_TOUCH_LAW "re-touch.minor_faults == 0"
/* Nothing is there before the first touch, and only base pages are there after it and after the refault. */
#define NOTHING_BEFORE "before.rss_bytes == 0"
#define BASE_PAGES "huge_bytes == 0; refault.huge_bytes == 0"
#define BASE_REFAULT "release=dontneed: refault.minor_faults == bytes / page_bytes"
/* Each process maps its share; a share that is no multiple of the huge page ends in base pages, or in folios of sizes between
 * (mTHP) where the settings grant them: `granted_faults` is what they come to. */
#define SHARE "bytes / processes"
#define HUGE_FAULTS                                                                                                    \
    "processes * (" SHARE " / huge_page_bytes + " SHARE " % huge_page_bytes / page_bytes)"
#define HUGE_FAULT_LAWS(phase)                                                                                         \
    phase ".minor_faults == granted_faults; small_folios == 0: " phase ".minor_faults == " HUGE_FAULTS
#define HUGE_REFAULT                                                                                                   \
    "release=dontneed: refault.minor_faults == granted_faults; release=dontneed: refault.huge_bytes == huge_bytes"
#define HUGE_LAWS                                                                                                      \
    "huge_bytes == processes * (" SHARE " / huge_page_bytes) * huge_page_bytes; " RE_TOUCH_LAW
/* Timing laws use CPU time, so that a busy machine is not taken for one whose host has to find the pages first.
 * Several threads' CPU time also counts their waiting for each other, and that of threads beside is all theirs. */
#define BACKING_LAWS_WHERE(alone, phase)                                                                               \
    alone " & backing=recycled & frames=cached: 1000 * " phase ".cpu_ns <= 3 * backing_level_ps * (bytes / page_bytes); " \
    alone " & backing=cold: 1000 * " phase ".cpu_ns >= 2 * backing_level_ps * (bytes / page_bytes)"
#define BACKING_LAWS(phase) BACKING_LAWS_WHERE("threads=1 & running=1", phase)

static inline char page_mark(const struct slot *s)
{
    return (char)(s->seed | 1);
}

/* The measured loop of P5: one byte into each base page. */
__attribute__((unused)) static void touch_pages(const struct part *part)
{
    volatile char *p = part->start;
    size_t bytes = part->bytes, page = part->page_bytes;
    char mark = part->mark;
    for (size_t i = 0; i < bytes; i += page)
        p[i] = mark;
}

/* The advice that `release=` names. */
static inline int release_advice(const struct slot *s)
{
    return key_is(s, "release", "free")   ? MADV_FREE
           : key_is(s, "release", "cold") ? MADV_COLD
           : key_is(s, "release", "pageout") ? MADV_PAGEOUT : MADV_DONTNEED;
}

void fault_begin(struct slot *s);                          /* checks the cell, prepares backing, counts in pages */
void fault_begin_advised(struct slot *s, int advice);      /* the same for memory of this advice */
void fault_needs_swap(struct slot *s);                     /* skips where there is none */
/* For methods that need huge pages: skips where the settings or the size let none come. `advised`: MADV_HUGEPAGE asks
 * for them. */
void fault_needs_huge(struct slot *s, bool advised);
/* Between map and first-touch: what is there already, and the faults that the settings promise to advised memory. */
void fault_before(struct slot *s, const char *p);
void fault_proofs(struct slot *s, const char *p);          /* after first-touch: huge_bytes, rss */
/* From re-touch to unmap: the same for every method whose memory is mapped and touched at `p`. Side measurements,
 * `seldom` in the experiment's file, run only in rounds that prove. */
void fault_rest(struct slot *s, char *p);
#endif
