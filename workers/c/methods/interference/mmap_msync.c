#include "interference.h"

static void run(struct slot *s)
{
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        char *p = MAP_FAILED;
        if (ftruncate(w.target, (off_t)w.bytes) != 0)
            scan_lost(&w, "ftruncate");
        else if ((p = mmap(w.place, w.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, w.target, 0)) ==
                 MAP_FAILED)
            scan_lost(&w, "mmap");
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES) {
            scan_stamp(&w, at);
            memcpy(p + at, w.buffer, STEP_BYTES);
            scan_use(&w, w.buffer, STEP_BYTES);
            size_t end = at + STEP_BYTES, from = end - (end % w.pace ? end % w.pace : w.pace);
            if ((end % w.pace == 0 || end == w.bytes) && msync(p + from, end - from, MS_SYNC) != 0)
                scan_lost(&w, "msync");
        }
        if (p != MAP_FAILED && munmap(p, w.bytes) != 0)
            scan_lost(&w, "munmap");
        scan_sync(&w);
    }
    scan_end(s, &w);
}

METHOD(interference_mmap_msync, .experiment = "interference", .name = "mmap-msync",
       .summary = "Stores into a shared mapping, and msync(2) of each pace.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS PACE_OPTION WORK_KEY("write"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS WRITE_LAWS, .calls = "work:ftruncate,mmap,msync,munmap,fdatasync", .run = run);
