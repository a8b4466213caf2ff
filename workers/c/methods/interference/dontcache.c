#include "interference.h"
#include <sys/uio.h>

#ifndef RWF_DONTCACHE /* Linux 6.14 */
#define RWF_DONTCACHE 0x80
#endif

static void read_step(struct scan *w, size_t at)
{
    for (size_t done = 0; done < STEP_BYTES;) {
        struct iovec piece = {w->buffer + done, STEP_BYTES - done};
        if (!scan_moved(w, "preadv2", preadv2(w->file, &piece, 1, (off_t)(at + done), RWF_DONTCACHE), &done))
            return;
    }
    scan_use(w, w->buffer, STEP_BYTES);
}

static void write_step(struct scan *w, size_t at)
{
    scan_stamp(w, at);
    for (size_t done = 0; done < STEP_BYTES;) {
        struct iovec piece = {w->buffer + done, STEP_BYTES - done};
        if (!scan_moved(w, "pwritev2", pwritev2(w->target, &piece, 1, (off_t)(at + done), RWF_DONTCACHE), &done))
            return;
    }
    scan_use(w, w->buffer, STEP_BYTES);
}

static void run(struct slot *s)
{
    struct scan w = scan_begin(s, 0);
    bool writes = w.work == WRITES;
    PHASE(s, "work") {
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES)
            (writes ? write_step : read_step)(&w, at);
        if (writes)
            scan_sync(&w);
    }
    if (w.failed && w.error == EOPNOTSUPP)
        scan_skip(s, &w, "this kernel or file system has no RWF_DONTCACHE (Linux 6.14 with ext4, XFS or btrfs)");
    scan_end(s, &w);
}

METHOD(interference_dontcache, .experiment = "interference", .name = "dontcache",
       .summary = "preadv2(2) and pwritev2(2) with RWF_DONTCACHE: through the page cache, which drops its pages at once.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read|write"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS BEHIND_LAW "; work=read: scan_before_bytes == 0; work=read: device_read_bytes >= bytes; "
                                    "work=write: unwritten_bytes == 0; work=write: called_written_bytes >= bytes",
       .calls = "work:preadv2?,pwritev2?,fdatasync?", .run = run);
