#include "kinds.h"

#define FOLDER "/sys/kernel/mm/transparent_hugepage"

static void run(struct slot *s)
{
    size_t folio = key_size(s, "folio"), larger = folio * 2;
    if (folio % s->page_bytes != 0 || folio <= s->page_bytes || folio >= s->huge_page_bytes)
        skip(s, "folio is no size between a base page and a huge page");
    if (!folio_granted(s, folio, true))
        skip(s, arena_text("folios of %zu KiB are not granted, or unknown (Linux 6.8): echo madvise > "
                           FOLDER "/hugepages-%zukB/enabled", folio / 1024, folio / 1024));
    for (; larger <= s->huge_page_bytes; larger *= 2)
        if (folio_granted(s, larger, true))
            skip(s, arena_text("larger folios are granted and would come instead: echo never > "
                               FOLDER "/hugepages-%zukB/enabled", larger / 1024));
    fault_begin_advised(s, MADV_HUGEPAGE);
    char *p = kind_map(s, true);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, s->bytes, page_mark(s)); }
    fact(s, "expected_faults", expected_faults(s, p, s->bytes, true));
    fault_proofs(s, p);
    fault_rest(s, p);
}

METHOD(fault_mthp, .experiment = "fault", .name = "mthp",
       .summary = "Permit folios of one size between a base page and a huge page, then touch every base page: one fault a folio.",
       .phases = FAULT_PHASES, .keys = "folio:size " FAULT_KEYS, .memory = "bytes",
       .laws = NOTHING_BEFORE "; first-touch.minor_faults == expected_faults; threads=1 & processes=1 & bytes % folio == 0: "
               "first-touch.minor_faults == bytes / folio; first-touch.rss_bytes == bytes; huge_bytes == 0; " RE_TOUCH_LAW
               "; release=dontneed: refault.minor_faults == first-touch.minor_faults; refault.huge_bytes == 0"
               "; " FAULT_THREADS_LAWS,
       .calls = "map:mmap advise:madvise release:madvise unmap:munmap", .run = run);
