/* See pipes.h. Never timed. */
#include "pipes.h"
#include "core.h"
#include <limits.h>

const char *pipe_open(struct slot *s, int ends[2], size_t bytes)
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    const char *obstacle = NULL;
    int granted = 0;
    if (bytes > INT_MAX)
        obstacle = "a pipe's size is an int";
    else if (bytes && fcntl(ends[1], F_SETPIPE_SZ, (int)bytes) < 0)
        obstacle = arena_text("a pipe of %zu bytes was refused (%s): /proc/sys/fs/pipe-max-size is the limit without "
                              "privilege, and pipe-user-pages-soft that of all pipes of a user", bytes, strerror(errno));
    else if ((granted = fcntl(ends[1], F_GETPIPE_SZ)) < 0)
        fail(s, "fcntl(F_GETPIPE_SZ)");
    else if (bytes && (size_t)granted != bytes)
        obstacle = arena_text("the kernel makes a pipe of %d bytes where %zu are asked for (sizes are powers of two pages)",
                              granted, bytes);
    if (!obstacle) {
        fact(s, "granted_pipe_bytes", (uint64_t)granted);
        return NULL;
    }
    close(ends[0]);
    close(ends[1]);
    return obstacle;
}

const char *vmsplice_probe(struct slot *s, unsigned flags)
{
    static bool usable;
    int ends[2];
    char seen = 0;
    size_t page = s->page_bytes;
    if (usable && !s->proofs)
        return NULL; /* nothing is opened and closed just before a sample */
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    char *scratch = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, scratch);
    memset(scratch, 1, page);
    struct iovec whole = {scratch, page};
    if (vmsplice(ends[1], &whole, 1, flags) != (ssize_t)page) {
        if (errno != ENOSYS && errno != EPERM)
            fail(s, "vmsplice");
        return "vmsplice() is not there or not permitted (a container's seccomp filter, or a kernel without it)";
    }
    memset(scratch, 2, page);
    if (read(ends[0], &seen, 1) != 1)
        fail(s, "read");
    fact(s, "vmsplice_shares_pages", seen == 2);
    close(ends[0]);
    close(ends[1]);
    munmap(scratch, page);
    usable = true;
    return NULL;
}
