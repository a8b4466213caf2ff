#include "interference.h"

static void run(struct slot *s)
{
    struct scan w = scan_begin(s, 0);
    bool reads = w.work != WRITES, writes = w.work != READS;
    PHASE(s, "work") {
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES) {
            if (reads)
                scan_read(&w, at);
            if (writes && !w.failed)
                scan_write(&w, at);
        }
        if (writes)
            scan_sync(&w);
    }
    scan_end(s, &w);
}

METHOD(interference_buffered, .experiment = "interference", .name = "buffered",
       .summary = "pread(2) and pwrite(2) of a MiB each through the page cache, and fdatasync(2) after the last write.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read|write|copy"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS "; work=read: called_read_bytes >= bytes; work=read: scan_before_bytes == 0; "
                         "work=read: device_read_bytes >= bytes; work=copy: scan_before_bytes == 0; "
                         "work=copy: device_read_bytes >= bytes; work=copy: unwritten_bytes == 0; "
                         "work=copy: called_written_bytes >= bytes; work=write: unwritten_bytes == 0; "
                         "work=write: called_written_bytes >= bytes",
       .calls = "work:pread64?,pwrite64?,fdatasync?", .run = run);
