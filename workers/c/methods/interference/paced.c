#include "interference.h"

static SHARED_BODY void run(struct slot *s, bool waits)
{
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        for (size_t from = 0; from < w.bytes && !w.failed; from += w.pace) {
            size_t end = from + w.pace < w.bytes ? from + w.pace : w.bytes;
            for (size_t at = from; at < end && !w.failed; at += STEP_BYTES)
                scan_write(&w, at);
            if (waits)
                scan_sync(&w);
            else if (!w.failed && sync_file_range(w.target, (off_t)from, (off_t)(end - from), SYNC_FILE_RANGE_WRITE) != 0)
                scan_lost(&w, "sync_file_range");
        }
        scan_sync(&w);
    }
    scan_end(s, &w);
}

static void begun(struct slot *s) { run(s, false); }
METHOD(interference_sync_file_range, .experiment = "interference", .name = "sync-file-range",
       .summary = "pwrite(2), and sync_file_range(2) after each pace: write-back begins at once, and nothing waits for it.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS PACE_OPTION WORK_KEY("write"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS WRITE_LAWS "; called_written_bytes >= bytes", .calls = "work:pwrite64,sync_file_range,fdatasync",
       .run = begun);

static void waited(struct slot *s) { run(s, true); }
METHOD(interference_fdatasync, .experiment = "interference", .name = "fdatasync",
       .summary = "pwrite(2), and fdatasync(2) after each pace: little is ever dirty.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS PACE_OPTION WORK_KEY("write"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS WRITE_LAWS "; called_written_bytes >= bytes", .calls = "work:pwrite64,fdatasync", .run = waited);
