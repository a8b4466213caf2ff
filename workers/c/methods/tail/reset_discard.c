#include "reset.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    size_t page = s->page_bytes, bytes = RESET_PAGES * page, failed = 0;
    struct tail_image m = tail_image(s, bytes, true);
    char *p = m.p;
    TAIL_TRIAL(&t, (dirty(p, page, (char)i), failed += madvise(p, bytes, MADV_DONTNEED) != 0));
    PHASE(s, "each") { TAIL_LOOP(&t, (dirty(p, page, (char)i), failed += madvise(p, bytes, MADV_DONTNEED) != 0)); }
    check_done(s, failed != 0, "madvise");
    tail_image_end(s, &m, bytes);
    tail_end(s, &t);
}

METHOD(tail_reset_discard, .experiment = "tail", .name = "reset-discard", .group = "reset",
       .summary = "A byte is written to 16 pages of a private mapping; MADV_DONTNEED lets its image show again.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "8 * ops + 1048576",
       .laws = TAIL_RESET_LAWS "; each.minor_faults >= 16 * ops", .calls = "each:madvise,getrusage?", .run = run);
