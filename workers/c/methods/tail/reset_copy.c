#include "reset.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    size_t page = s->page_bytes, bytes = RESET_PAGES * page;
    struct tail_image m = tail_image(s, bytes, false);
    char *p = m.p, *image = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, m.fd, 0);
    check_map(s, image);
    TAIL_TRIAL(&t, (dirty(p, page, (char)i), memcpy(p, image, bytes)));
    PHASE(s, "each") { TAIL_LOOP(&t, (dirty(p, page, (char)i), memcpy(p, image, bytes))); }
    check_done(s, munmap(image, bytes), "munmap");
    tail_image_end(s, &m, bytes);
    tail_end(s, &t);
}

METHOD(tail_reset_copy, .experiment = "tail", .name = "reset-copy", .group = "reset",
       .summary = "A byte is written to 16 pages; all of them are copied from their image.", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "8 * ops + 1048576", .laws = TAIL_RESET_LAWS "; each.minor_faults < ops",
       .calls = "each:getrusage?", .run = run);
