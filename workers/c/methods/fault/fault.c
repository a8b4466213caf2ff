/* The parts that the `fault` methods share. */
#include "fault.h"
#include <stdio.h>

static bool swap_is_on(void)
{
    char text[256];
    FILE *file = fopen("/proc/swaps", "re");
    int lines = 0;
    while (file && fgets(text, sizeof text, file))
        lines++;
    if (file)
        fclose(file);
    return lines > 1;
}

void fault_needs_swap(struct slot *s)
{
    if (!swap_is_on())
        skip(s, "MADV_PAGEOUT leaves anonymous memory where it is without swap; add some with mkswap and swapon");
}

void fault_begin_advised(struct slot *s, int advice)
{
    if (s->bytes % s->page_bytes != 0)
        skip(s, "bytes is not a multiple of the page size");
    if (key_is(s, "release", "pageout"))
        fault_needs_swap(s);
    if (wants_huge_pages(s) && s->threads > 1 && s->bytes < s->threads * s->huge_page_bytes)
        skip(s, "less than one huge page per thread: several threads would race for the same fault");
    s->ops = s->bytes / s->page_bytes;
    fact(s, "footprint_bytes", s->bytes);
    backing_before(s, s->bytes);
    frames_before(s, s->bytes, 0, advice);
    bystanders_begin(s);
    reset_peak_rss();
}

void fault_begin(struct slot *s)
{
    fault_begin_advised(s, wants_huge_pages(s) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void fault_needs_huge(struct slot *s, bool advised)
{
    if (!s->huge_page_bytes)
        skip(s, "no transparent huge pages: this kernel has none, or /sys does not say of which size they are");
    if (s->bytes < s->huge_page_bytes)
        skip(s, arena_text("%zu bytes are less than one huge page (%zu bytes): none can come", s->bytes, s->huge_page_bytes));
    if (advised)
        need_huge_pages(s);
}

void fault_before(struct slot *s, const char *p)
{
    struct resident now = resident_in(s, p, s->bytes);
    fact(s, "before.rss_bytes", now.rss_bytes);
    fact(s, "before.huge_bytes", now.huge_bytes);
    if (wants_huge_pages(s)) {
        fact(s, "granted_faults", expected_faults(s, p, s->bytes, true));
        fact(s, "small_folios", small_folios_granted(s, true));
    }
}

void fault_proofs(struct slot *s, const char *p)
{
    struct resident now = resident_in(s, p, s->bytes);
    frames_proofs(s, p, s->bytes);
    fact(s, "huge_bytes", now.huge_bytes);
    fact(s, "first-touch.rss_bytes", now.rss_bytes);
    fact(s, "first-touch.peak_rss_bytes", peak_rss_bytes());
}

/* Side measurements: what the loop costs over memory that is there, giving back, touching that again. */
static void fault_beside(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    int advice = release_advice(s), given_back = 0;
    PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    PHASE(s, "release") { given_back = madvise(p, bytes, advice); }
    if (given_back != 0)
        fail(s, "madvise");
    struct resident now = resident_in(s, p, bytes);
    fact(s, "release.rss_bytes", now.rss_bytes);
    fact(s, "release.lazyfree_bytes", now.lazyfree_bytes);
    PARALLEL_PHASE(s, "refault") { on_every_thread(s, touch_pages, p, bytes, page_mark(s)); }
    now = resident_in(s, p, bytes);
    fact(s, "refault.rss_bytes", now.rss_bytes);
    fact(s, "refault.huge_bytes", now.huge_bytes);
}

void fault_rest(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    if (s->proofs)
        fault_beside(s, p);
    fact_digest(s, p, bytes);
    int left;
    PHASE(s, "unmap") { left = munmap(p, bytes); }
    check_done(s, left, "munmap");
    bystanders_end(s);
    backing_after(s, bytes);
}
