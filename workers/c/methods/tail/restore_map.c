#include "image.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    size_t page = s->page_bytes, ops = t.ops;
    struct tail_image m = tail_image(s, (ops + TRIAL_OPS) * page, true);
    volatile char *p = m.p;
    /* A byte of the page becomes what it is: the first write to a page that is not there yet. */
    TAIL_TRIAL(&t, p[(all_ + i) * page] = p[(all_ + i) * page]);
    PHASE(s, "each") { TAIL_LOOP(&t, p[i * page] = p[i * page]); }
    tail_image_end(s, &m, ops * page);
    tail_end(s, &t);
}

METHOD(tail_restore_map, .experiment = "tail", .name = "restore-map", .group = "restore",
       .summary = "The first use of a page of a snapshot that is mapped privately: read, then written to.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "2 * (ops + 1001) * page_bytes + 8 * ops",
       .laws = TAIL_LAWS "; right_bytes == image_bytes; each.minor_faults >= ops", .calls = "each:getrusage?", .run = run);
