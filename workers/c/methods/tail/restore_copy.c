#include "image.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    size_t page = s->page_bytes, ops = t.ops, failed = 0;
    struct tail_image m = tail_image(s, (ops + TRIAL_OPS) * page, false);
    char *p = m.p;
    int fd = m.fd;
    TAIL_TRIAL(&t, failed += pread(fd, p + (all_ + i) * page, page, (off_t)((all_ + i) * page)) != (ssize_t)page);
    PHASE(s, "each") { TAIL_LOOP(&t, failed += pread(fd, p + i * page, page, (off_t)(i * page)) != (ssize_t)page); }
    check_done(s, failed != 0, "pread");
    tail_image_end(s, &m, ops * page);
    tail_end(s, &t);
}

METHOD(tail_restore_copy, .experiment = "tail", .name = "restore-copy", .group = "restore",
       .summary = "A page of a snapshot is copied into fresh memory by pread(), when it is asked for.", .phases = TAIL_PHASES,
       .keys = TAIL_KEYS, .memory = "2 * (ops + 1001) * page_bytes + 8 * ops",
       .laws = TAIL_LAWS "; right_bytes == image_bytes; each.minor_faults >= ops", .calls = "each:pread64,getrusage?",
       .run = run);
