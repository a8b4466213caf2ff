#include "file.h"

static void run(struct slot *s)
{
    static char buffer[TAIL_BLOCK];
    struct tail t = tail_begin(s);
    struct tail_file f = tail_file(s, &t);
    size_t failed = 0;
    fact(s, "cached_before_bytes", resident_bytes(s, f.fd, f.blocks * TAIL_BLOCK));
    fact(s, "file_bytes", f.blocks * TAIL_BLOCK);
    TAIL_TRIAL(&t, failed += pread(f.fd, buffer, TAIL_BLOCK, tail_block(&f, all_ + i)) != TAIL_BLOCK);
    PHASE(s, "each") { TAIL_LOOP(&t, failed += pread(f.fd, buffer, TAIL_BLOCK, tail_block(&f, i)) != TAIL_BLOCK); }
    check_done(s, failed != 0, "pread");
    tail_file_end(s, &f);
    tail_end(s, &t);
}

METHOD(tail_pread_hot, .experiment = "tail", .name = "pread-hot", .group = "file", .isolation = "own",
       .summary = "pread() of 4 KiB of a cached file, at another place each time.", .phases = TAIL_PHASES, .keys = TAIL_KEYS,
       .memory = TAIL_FILE_MEMORY, .laws = TAIL_LAWS "; cached_before_bytes == file_bytes",
       .calls = "each:pread64,getrusage?", .run = run);
