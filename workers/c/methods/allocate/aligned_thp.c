#include "allocate.h"

/* Whole huge pages, then base pages; all of the block that lies in whole pages. */
#define HUGE_BYTES "(" PAGES " * page_bytes / huge_page_bytes * huge_page_bytes)"

static void *get_aligned(struct slot *s)
{
    void *p = NULL;
    return posix_memalign(&p, s->huge_page_bytes, whole_pages(s)) || madvise(p, whole_pages(s), MADV_HUGEPAGE) ? NULL : p;
}

static void run(struct slot *s)
{
    need_huge_pages(s);
    if (s->bytes < s->huge_page_bytes)
        skip(s, "the block is less than one huge page: none can come");
    allocate_malloc(s, NULL, NULL);
    allocate_begin(s);
    size_t bytes = s->bytes, whole = whole_pages(s), huge = s->huge_page_bytes;
    char mark = refill_mark(s);
    void *p = NULL;
    int refused = 0, advised = 0;
    struct before last = allocate_before(s, get_aligned, give_free);
    PHASE(s, "allocate") {
        p = last.kept ? last.block : NULL;
        if (!last.kept)
            free(last.block);
        /* Whole pages are asked for, so that the advice covers no memory but the block's own. */
        refused = last.kept ? 0 : posix_memalign(&p, huge, whole);
        advised = last.kept ? 0 : madvise(p, whole, MADV_HUGEPAGE);
    }
    if (refused) {
        errno = refused;
        fail(s, "posix_memalign");
    }
    check_huge_advice(s, advised);
    fact(s, "granted_faults", expected_faults(s, p, whole, true));
    fact(s, "small_folios", small_folios_granted(s, true));
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, set_part, p, bytes, 0); }
    allocate_mapping(s, p);
    allocate_filled(s, p, 0, false);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    PHASE(s, "free") { free(p); }
    allocate_end(s);
}

METHOD(allocate_aligned_thp, .experiment = "allocate", .name = "aligned-thp",
       .summary = "posix_memalign to a huge page, MADV_HUGEPAGE, then memset to zero: one fault per huge page.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " GLIBC_LAWS "; huge_bytes >= " HUGE_BYTES "; reuse=first: huge_bytes == " HUGE_BYTES
               "; fill.rss_bytes == " PAGES " * page_bytes; "
               "reuse=first: fill.minor_faults == granted_faults; reuse=first & small_folios == 0: "
               "fill.minor_faults == huge_bytes / huge_page_bytes + (" PAGES " * page_bytes - huge_bytes) / page_bytes; "
               "reuse=first & bytes >= 1048576: " GIVEN_BACK "; block_alignment >= huge_page_bytes; " BACKING_LAWS("fill"),
       .calls = "allocate:getrandom?,brk?,mmap?,madvise?,munmap? free:munmap?,brk?,madvise?", .backing_huge = true, .run = run);
