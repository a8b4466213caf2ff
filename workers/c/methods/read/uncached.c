#include "read_call.h"
#include <sys/uio.h>

/* Newer than most headers (Linux 6.14). */
#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif

static void run(struct slot *s)
{
    struct input in;
    read_begin(s, &in, key_size(s, "large_chunk"), 1);
    const char *path = in.path;
    char *buffer = in.buffer;
    int fd = -1;
    PHASE(s, "open") { fd = open(path, O_RDONLY | O_CLOEXEC); }
    check_open(s, fd, "open");
    PHASE(s, "read") {
        for (size_t i = 0; i < in.steps && !in.error; i++) {
            size_t offset = step_offset(&in, i), want = bytes_at(&in, offset), have = 0;
            READ_STEP(&in, want, have,
                      preadv2(fd, &(struct iovec){buffer + have, want - have}, 1, (off_t)(offset + have), RWF_DONTCACHE));
            consume(&in.sink, buffer, have);
        }
    }
    if (in.error == EOPNOTSUPP)
        skip(s, "this kernel or file system has no uncached reads (RWF_DONTCACHE: Linux 6.14 with ext4, XFS or btrfs)");
    check_pass(s, &in, "preadv2");
    int left;
    PHASE(s, "close") { left = close(fd); }
    check_done(s, left, "close");
    read_end(s, &in, 0);
}

METHOD(read_uncached, .experiment = "read", .name = "uncached",
       .summary = "preadv2(2) with RWF_DONTCACHE, by large chunks: through the page cache, but nothing stays in it that was not there.",
       .phases = READ_PHASES, .keys = READ_KEYS " large_chunk:size", .memory = "large_chunk + bytes / 1024",
       .laws = CACHE_LAWS "; " BROUGHT_LAWS "; calls_counted == 1: read_calls >= (bytes + step_bytes - 1) / step_bytes; "
                          "cache=cold & order=sequential: resident_after_bytes == 0; "
                          /* What was read ahead behind a block that had been read before is not dropped with it. */
                          "cache=cold & order=random: 8 * resident_after_bytes <= bytes + 524288; "
                          "cache=cold & order=random-1MiB: 8 * resident_after_bytes <= bytes + 524288; "
                          /* Folios larger than a chunk are dropped with its end, and what is left of them is read again. */
                          "cache=cold & order=sequential & counted == 1: 10 * device_bytes <= 11 * bytes + 2621440",
       .calls = "open:openat read:preadv2 close:close", .run = run);
