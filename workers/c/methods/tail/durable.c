#include "file.h"
#include <sys/syscall.h>

/* cachestat(2) has one number on every architecture; older headers lack it. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static uint64_t unwritten_pages(struct slot *s, const struct tail_file *f)
{
    uint64_t range[] = {0, f->blocks * TAIL_BLOCK};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } pages;
    if (syscall(SYS_cachestat, f->fd, range, &pages, 0) != 0)
        skip(s, refused("cachestat", "Linux 6.5 has it: without it nothing proves that writes are durable"));
    return pages.dirty + pages.writeback;
}

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
    fact(s, "unwritten_pages", unwritten_pages(s, &f));
    check_done(s, failed != 0, "pwrite or fdatasync");
    tail_file_end(s, &f);
    tail_end(s, &t);
}

METHOD(tail_durable, .experiment = "tail", .name = "durable", .group = "durable", .isolation = "own",
       .summary = "pwrite() of 4 KiB over a block of a file, then fdatasync().", .phases = TAIL_PHASES, .keys = TAIL_KEYS,
       .memory = TAIL_FILE_MEMORY, .laws = TAIL_LAWS "; unwritten_pages == 0",
       .calls = "each:pwrite64,fdatasync,getrusage?", .run = run);
