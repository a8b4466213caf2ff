#include "interference.h"

/* Advice to the file before the first read, and on each step behind it; NONE: not given. */
enum { NONE = -1 };

static SHARED_BODY void run(struct slot *s, int before, int behind)
{
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        if (before != NONE && (errno = posix_fadvise(w.file, 0, 0, before)) != 0)
            scan_lost(&w, "posix_fadvise");
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES) {
            scan_read(&w, at);
            if (behind != NONE && (errno = posix_fadvise(w.file, (off_t)at, STEP_BYTES, behind)) != 0)
                scan_lost(&w, "posix_fadvise");
        }
    }
    scan_end(s, &w);
}

static void behind(struct slot *s) { run(s, NONE, POSIX_FADV_DONTNEED); }
METHOD(interference_dontneed, .experiment = "interference", .name = "dontneed",
       .summary = "pread(2) of a MiB each, and POSIX_FADV_DONTNEED behind each: the page cache drops what was read.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS BEHIND_LAW "; called_read_bytes >= bytes", .calls = "work:pread64,fadvise64",
       .run = behind);

static void noreuse(struct slot *s) { run(s, POSIX_FADV_NOREUSE, NONE); }
METHOD(interference_noreuse, .experiment = "interference", .name = "noreuse",
       .summary = "POSIX_FADV_NOREUSE, then pread(2) of a MiB each: from Linux 6.3 on a read does not count as a use.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS "; called_read_bytes >= bytes", .calls = "work:pread64,fadvise64", .run = noreuse);
