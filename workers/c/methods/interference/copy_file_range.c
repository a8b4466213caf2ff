#include "interference.h"

static void run(struct slot *s)
{
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        for (off_t from = 0, to = 0; (size_t)to < w.bytes && !w.failed;)
            scan_moved(&w, "copy_file_range", copy_file_range(w.file, &from, w.target, &to, STEP_BYTES, 0), &w.moved);
        scan_sync(&w);
    }
    scan_end(s, &w);
}

/* A file system that shares blocks between files reads and writes none of them. */
METHOD(interference_copy_file_range, .experiment = "interference", .name = "copy-file-range",
       .summary = "copy_file_range(2) of a MiB each, then fdatasync(2).",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("copy"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS "; scan_before_bytes == 0; unwritten_bytes == 0",
       .calls = "work:copy_file_range,fdatasync", .run = run);
