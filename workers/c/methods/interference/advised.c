#include "interference.h"

/* Advice to the file before the first read, and behind each read: on the step that was read, or on all that was. */
enum { NONE = -1 };

static SHARED_BODY void run(struct slot *s, int before, int behind, bool all)
{
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        if (before != NONE && (errno = posix_fadvise(w.file, 0, 0, before)) != 0)
            scan_lost(&w, "posix_fadvise");
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES) {
            scan_read(&w, at);
            size_t from = all ? 0 : at;
            if (behind != NONE && (errno = posix_fadvise(w.file, (off_t)from, (off_t)(at + STEP_BYTES - from), behind)) != 0)
                scan_lost(&w, "posix_fadvise");
        }
    }
    scan_end(s, &w);
}

/* A folio goes only with advice on all of it. Where read-ahead is large folios are larger than a step, and nothing goes. */
static void behind(struct slot *s) { run(s, NONE, POSIX_FADV_DONTNEED, false); }
METHOD(interference_dontneed, .experiment = "interference", .name = "dontneed",
       .summary = "pread(2) of a MiB each, and POSIX_FADV_DONTNEED on that MiB: a folio that is larger stays in the page cache.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS "; called_read_bytes >= bytes", .calls = "work:pread64,fadvise64",
       .run = behind);

static void all_behind(struct slot *s) { run(s, NONE, POSIX_FADV_DONTNEED, true); }
METHOD(interference_dontneed_all, .experiment = "interference", .name = "dontneed-all",
       .summary = "pread(2) of a MiB each, and POSIX_FADV_DONTNEED on all that was read until then: the page cache drops it.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS BEHIND_LAW "; called_read_bytes >= bytes", .calls = "work:pread64,fadvise64",
       .run = all_behind);

static void noreuse(struct slot *s) { run(s, POSIX_FADV_NOREUSE, NONE, false); }
METHOD(interference_noreuse, .experiment = "interference", .name = "noreuse",
       .summary = "POSIX_FADV_NOREUSE, then pread(2) of a MiB each: from Linux 6.3 on a read does not count as a use.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS "; called_read_bytes >= bytes", .calls = "work:pread64,fadvise64", .run = noreuse);
