#include "file.h"
#include <fcntl.h>

static SHARED_BODY void run(struct slot *s, bool cold)
{
    static char buffer[TAIL_BLOCK];
    struct tail t = tail_begin(s);
    struct tail_file f = tail_file(s, &t);
    size_t failed = 0, bytes = f.blocks * TAIL_BLOCK, before = 0;
    fact(s, "cached_before_bytes", cold ? make_cold(s, f.fd, bytes) : resident_bytes(s, f.fd, bytes));
    if (cold)
        posix_fadvise(f.fd, 0, 0, POSIX_FADV_RANDOM);
    else
        fact(s, "file_bytes", bytes);
    TAIL_TRIAL(&t, failed += pread(f.fd, buffer, TAIL_BLOCK, tail_block(&f, all_ + i)) != TAIL_BLOCK);
    if (cold)
        before = resident_bytes(s, f.fd, bytes);
    PHASE(s, "each") { TAIL_LOOP(&t, failed += pread(f.fd, buffer, TAIL_BLOCK, tail_block(&f, i)) != TAIL_BLOCK); }
    if (cold)
        fact(s, "cached_meanwhile_bytes", resident_bytes(s, f.fd, bytes) - before);
    check_done(s, failed != 0, "pread");
    tail_file_end(s, &f);
    tail_end(s, &t);
}

static void hot(struct slot *s) { run(s, false); }
METHOD(tail_pread_hot, .experiment = "tail", .name = "pread-hot", .group = "file", .isolation = "own",
       .summary = "pread() of 4 KiB of a cached file, at another place each time.", .phases = TAIL_PHASES, .keys = TAIL_KEYS,
       .memory = TAIL_FILE_MEMORY, .laws = TAIL_LAWS "; cached_before_bytes == file_bytes",
       .calls = "each:pread64,getrusage?", .run = hot);

static void uncached(struct slot *s) { run(s, true); }
METHOD(tail_pread_cold, .experiment = "tail", .name = "pread-cold", .group = "file", .isolation = "own",
       .summary = "pread() of 4 KiB of a file that is not cached, at another place each time, without reading ahead.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = TAIL_FILE_MEMORY,
       .laws = TAIL_LAWS "; cached_before_bytes == 0; 100 * cached_meanwhile_bytes >= 95 * 4096 * ops",
       .calls = "each:pread64,getrusage?", .run = uncached);
