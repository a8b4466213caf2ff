#include "reset.h"
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef SYS_process_madvise /* Linux 5.10; one number on all architectures */
#define SYS_process_madvise 440
#endif
#ifndef PIDFD_SELF /* Linux 6.14 */
#define PIDFD_SELF (-10000)
#endif

static void reset(struct region *r)
{
    struct iovec *ranges = r->own;
    long done = syscall(SYS_process_madvise, PIDFD_SELF, ranges, RANGES, MADV_DONTNEED, 0);
    if (done >= 0 && (size_t)done != r->bytes)
        errno = EIO;
    if (done < 0 || (size_t)done != r->bytes)
        region_lost(r, "process_madvise");
    restore_image(r);
}

static void run(struct slot *s)
{
    need_ranges(s);
    struct region r = region_begin(s, ANONYMOUS);
    struct iovec ranges[RANGES];
    for (size_t i = 0; i < RANGES; i++)
        ranges[i] = (struct iovec){r.p + i * (r.bytes / RANGES), r.bytes / RANGES};
    r.own = ranges;
    long known = syscall(SYS_process_madvise, PIDFD_SELF, ranges, 1, MADV_DONTNEED, 0);
    if (known < 0 && (errno == EBADF || errno == EINVAL || errno == ENOSYS || errno == EPERM))
        skip(s, refused("process_madvise", "Linux 6.14 lets a process discard its own memory so"));
    restore_image(&r);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_dontneed_batch, .experiment = "reset", .name = "dontneed-batch",
       .summary = "process_madvise(MADV_DONTNEED) of sixteen ranges in one call.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:process_madvise", .run = run);
