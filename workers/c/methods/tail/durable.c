#include "file.h"

static bool put(const struct tail_file *f, const char *block, size_t number)
{
    return pwrite(f->fd, block, TAIL_BLOCK, tail_block(f, number)) == TAIL_BLOCK && fdatasync(f->fd) == 0;
}

static void run(struct slot *s)
{
    static char block[TAIL_BLOCK];
    struct tail t = tail_begin(s);
    struct tail_file f = tail_file(s, &t);
    size_t failed = 0;
    pattern_fill(block, sizeof block, s->seed + (uint64_t)s->number + 1);
    TAIL_TRIAL(&t, failed += !put(&f, block, all_ + i));
    PHASE(s, "each") { TAIL_LOOP(&t, failed += !put(&f, block, i)); }
    fact(s, "unwritten_bytes", proved_pages(s, f.fd).dirty);
    check_done(s, failed != 0, "pwrite or fdatasync");
    tail_file_end(s, &f);
    tail_end(s, &t);
}

METHOD(tail_durable, .experiment = "tail", .name = "durable", .group = "durable", .isolation = "own",
       .summary = "pwrite() of 4 KiB over a block of a file, then fdatasync().", .phases = TAIL_PHASES, .keys = TAIL_KEYS,
       .memory = TAIL_FILE_MEMORY, .laws = TAIL_LAWS "; unwritten_bytes == 0",
       .calls = "each:pwrite64,fdatasync,getrusage?", .run = run);
