#include "kinds.h"

/* Half of each page is noise: pages of zeros need no compression, and no method of compressing differs. */
static void fill_halves(const struct slot *s, char *p, bool is_noise)
{
    size_t page = s->page_bytes, half = page / 2;
    for (size_t at = half; at < s->bytes; at += page) {
        if (is_noise)
            pattern_fill(p + at, half, s->seed + at);
        else
            memset(p + at, 0, half);
    }
}

static void run(struct slot *s)
{
    if (number_in("/proc/sys/vm/swappiness", 1) == 0)
        skip(s, "vm.swappiness is 0: the kernel swaps nothing");
    fault_needs_swap(s);
    fault_begin(s);
    char *p = kind_map(s, false), mark = page_mark(s);
    size_t bytes = s->bytes;
    pool_wake(s);
    on_every_thread(s, touch_pages, p, bytes, mark);
    fill_halves(s, p, true);
    uint64_t content = s->proofs ? digest_of(p, bytes) : 0;
    /* Pages that somebody looks at, or whose write has not ended, stay: the kernel is asked again. */
    for (int turn = 0; turn < 20 && mapped_present_bytes(s, p, bytes) != 0; turn++) {
        if (madvise(p, bytes, MADV_PAGEOUT) != 0)
            fail(s, "madvise");
        usleep(10000);
    }
    if (mapped_present_bytes(s, p, bytes) != 0)
        skip(s, "the kernel left pages in memory: the swap space is too small or too busy");
    fact(s, "swapped_bytes", s->proofs ? smaps_bytes(s, p, "Swap") : 0);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    fault_proofs(s, p);
    fact(s, "kept_bytes", s->proofs && digest_of(p, bytes) == content ? bytes : 0);
    fill_halves(s, p, false); /* the digests of its group are without noise */
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    kind_unmap(s, p);
}

/* A page that was read ahead, or has not left the swap cache, is a minor fault. */
METHOD(fault_swap_in, .experiment = "fault", .name = "swap-in", .group = THERE_GROUP,
       .summary = "Write to pages, half of each noise, that MADV_PAGEOUT has sent to the swap space: from a device, or from zswap's "
                  "memory.",
       .phases = "map advise first-touch re-touch unmap", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = NOTHING_BEFORE "; swapped_bytes == bytes; kept_bytes == bytes; first-touch.rss_bytes == bytes; "
               "first-touch.minor_faults + first-touch.major_faults == bytes / page_bytes; " RE_TOUCH_LAW
               "; " THREADS_LAWS,
       .calls = "map:mmap advise:madvise unmap:munmap", .run = run);
