#include "interference.h"

static SHARED_BODY void run(struct slot *s, bool allocates)
{
    struct scan w = scan_begin(s, O_DIRECT);
    bool writes = w.work == WRITES;
    PHASE(s, "work") {
        while (allocates && !w.failed && fallocate(w.target, 0, 0, (off_t)w.bytes) != 0)
            if (errno != EINTR)
                scan_lost(&w, "fallocate");
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES)
            (writes ? scan_write : scan_read)(&w, at);
        if (writes)
            scan_sync(&w);
    }
    if (allocates && w.failed && w.error == EOPNOTSUPP)
        scan_skip(s, &w, "this file system reserves no blocks (fallocate)");
    scan_end(s, &w);
}

static void direct(struct slot *s) { run(s, false); }
METHOD(interference_direct, .experiment = "interference", .name = "direct",
       .summary = "O_DIRECT, a MiB each, one at a time: past the page cache.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read|write"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS NOTHING_LEFT_LAW "; work=read: scan_before_bytes == 0; work=read: device_read_bytes >= bytes; "
                                          "work=write: unwritten_bytes == 0; work=write: device_written_bytes >= bytes",
       .calls = "work:pread64?,pwrite64?,fdatasync?", .run = direct);

static void allocated(struct slot *s) { run(s, true); }
METHOD(interference_direct_fallocate, .experiment = "interference", .name = "direct-fallocate",
       .summary = "fallocate(2) of the whole file, then O_DIRECT writes of a MiB each.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("write"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS WRITE_LAWS NOTHING_LEFT_LAW, .calls = "work:fallocate,pwrite64,fdatasync", .run = allocated);
