/* See file.h. Never timed. */
#include "file.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

struct tail_file tail_file(struct slot *s, const struct tail *t)
{
    static char piece[1 << 20];
    struct tail_file f = {.blocks = 1};
    struct statfs about;
    while (f.blocks < t->ops + TRIAL_OPS)
        f.blocks *= 2;
    const char *path = arena_text("%s/%s-tail", launch_directory(), launch_name());
    f.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f.fd < 0 || unlink(path) != 0 || fstatfs(f.fd, &about) != 0)
        fail(s, "open");
    if (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC)
        skip(s, "the run's folder lies in memory; --out names one on a disk");
    pattern_fill(piece, sizeof piece, s->seed);
    for (size_t at = 0; at < f.blocks * TAIL_BLOCK; at += sizeof piece)
        if (pwrite(f.fd, piece, sizeof piece, (off_t)at) != (ssize_t)sizeof piece)
            fail(s, "pwrite");
    if (fsync(f.fd) != 0)
        fail(s, "fsync");
    return f;
}

void tail_file_end(struct slot *s, struct tail_file *f)
{
    check_done(s, close(f->fd), "close");
}
