#include "kinds.h"

/* What each page becomes: a mark and zeros. One page, so that it stays in the nearest cache. */
static _Alignas(64) char page_of_marks[65536];

static void write_pages(const struct part *part)
{
    char *p = part->start;
    size_t bytes = part->bytes, page = part->page_bytes;
    for (size_t i = 0; i < bytes; i += page)
        memcpy(p + i, page_of_marks, page);
}

static void run(struct slot *s)
{
    if (s->page_bytes > sizeof page_of_marks)
        skip(s, "base pages above 64 KiB");
    fault_begin(s);
    memset(page_of_marks, 0, s->page_bytes);
    page_of_marks[0] = page_mark(s);
    char *p = kind_map(s, false);
    size_t bytes = s->bytes;
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, write_pages, p, bytes, 0); }
    fault_proofs(s, p);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, write_pages, p, bytes, 0); }
    kind_unmap(s, p);
}

METHOD(fault_whole_page, .experiment = "fault", .name = "whole-page", .group = WHOLE_GROUP,
       .summary = "Write all of each fresh page, not one byte: the zeros that the kernel just wrote are written over.",
       .phases = "map advise first-touch re-touch unmap", .keys = KIND_KEYS, .memory = "bytes",
       .laws = FAULT_A_PAGE("first-touch") "; " NOTHING_BEFORE "; huge_bytes == 0; first-touch.rss_bytes == bytes; "
               RE_TOUCH_LAW "; " KIND_LAWS,
       .calls = "map:mmap advise:madvise unmap:munmap", .run = run);
