#include "reset.h"
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef SYS_process_madvise /* Linux 5.10; one number on all architectures */
#define SYS_process_madvise 440
#endif
#ifndef PIDFD_SELF /* Linux 6.14 */
#define PIDFD_SELF (-10000)
#endif

static void discard_each(struct region *r)
{
    size_t part = r->bytes / RANGES;
    for (size_t i = 0; i < RANGES; i++)
        if (madvise(r->p + i * part, part, MADV_DONTNEED) != 0)
            region_lost(r, "madvise");
    restore_image(r);
}

static void discard_batch(struct region *r)
{
    struct iovec *ranges = r->own;
    long done = syscall(SYS_process_madvise, PIDFD_SELF, ranges, RANGES, MADV_DONTNEED, 0);
    if (done >= 0 && (size_t)done != r->bytes)
        errno = EIO;
    if (done < 0 || (size_t)done != r->bytes)
        region_lost(r, "process_madvise");
    restore_image(r);
}

/* A kernel that cannot do it says so before the clock; what it took away is put back. */
static void need_batch(struct slot *s, struct region *r)
{
    long known = syscall(SYS_process_madvise, PIDFD_SELF, r->own, 1, MADV_DONTNEED, 0);
    if (known < 0 && (errno == EBADF || errno == EINVAL || errno == ENOSYS || errno == EPERM))
        skip(s, refused("process_madvise", "Linux 6.14 lets a process discard its own memory so"));
    restore_image(r);
}

static SHARED_BODY void run(struct slot *s, void (*reset)(struct region *), bool in_one_call)
{
    need_ranges(s);
    struct region r = region_begin(s, ANONYMOUS);
    struct iovec ranges[RANGES];
    for (size_t i = 0; i < RANGES; i++)
        ranges[i] = (struct iovec){r.p + i * (r.bytes / RANGES), r.bytes / RANGES};
    r.own = ranges;
    if (in_one_call)
        need_batch(s, &r);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

static void many_calls(struct slot *s) { run(s, discard_each, false); }
METHOD(reset_dontneed_each, .experiment = "reset", .name = "dontneed-each",
       .summary = "madvise(MADV_DONTNEED) of sixteen ranges in as many calls, as a pool does with sixteen instances.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:madvise", .run = many_calls);

static void one_call(struct slot *s) { run(s, discard_batch, true); }
METHOD(reset_dontneed_batch, .experiment = "reset", .name = "dontneed-batch",
       .summary = "process_madvise(MADV_DONTNEED) of sixteen ranges in one call.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:process_madvise", .run = one_call);
