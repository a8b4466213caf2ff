#include "interference.h"

enum { NONE = -1 };

static SHARED_BODY void run(struct slot *s, int before, int behind)
{
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        char *p = mmap(w.place, w.bytes, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, w.file, 0);
        if (p == MAP_FAILED)
            scan_lost(&w, "mmap");
        else if (before != NONE && madvise(p, w.bytes, before) != 0)
            scan_lost(&w, "madvise");
        for (size_t at = 0; at < w.bytes && !w.failed; at += STEP_BYTES) {
            scan_use(&w, p + at, STEP_BYTES);
            if (behind != NONE && madvise(p + at, STEP_BYTES, behind) != 0)
                scan_lost(&w, "madvise");
        }
        if (p != MAP_FAILED && munmap(p, w.bytes) != 0)
            scan_lost(&w, "munmap");
    }
    if (w.failed && w.error == EINVAL && behind == MADV_PAGEOUT)
        scan_skip(s, &w, "this kernel has no MADV_PAGEOUT (Linux 5.4)");
    scan_end(s, &w);
}

static void plain(struct slot *s) { run(s, NONE, NONE); }
METHOD(interference_mmap, .experiment = "interference", .name = "mmap",
       .summary = "A shared mapping without advice, all words of it used from the first to the last.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS, .calls = "work:mmap,munmap", .run = plain);

static void sequential(struct slot *s) { run(s, MADV_SEQUENTIAL, NONE); }
METHOD(interference_mmap_sequential, .experiment = "interference", .name = "mmap-sequential",
       .summary = "A mapping with MADV_SEQUENTIAL: more is read ahead, and a use of a page does not count.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS, .calls = "work:mmap,madvise,munmap", .run = sequential);

static void random_order(struct slot *s) { run(s, MADV_RANDOM, NONE); }
METHOD(interference_mmap_random, .experiment = "interference", .name = "mmap-random",
       .summary = "A mapping with MADV_RANDOM: nothing is read ahead, and a use of a page does not count.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS "; work.major_faults * 8 >= bytes / page_bytes", .calls = "work:mmap,madvise,munmap",
       .run = random_order);

static void dontneed(struct slot *s) { run(s, NONE, MADV_DONTNEED); }
METHOD(interference_mmap_dontneed, .experiment = "interference", .name = "mmap-dontneed",
       .summary = "A mapping, and MADV_DONTNEED behind each MiB: the pages are unmapped, and stay in the page cache.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS, .calls = "work:mmap,madvise,munmap", .run = dontneed);

static void pageout(struct slot *s) { run(s, NONE, MADV_PAGEOUT); }
METHOD(interference_mmap_pageout, .experiment = "interference", .name = "mmap-pageout",
       .summary = "A mapping, and MADV_PAGEOUT behind each MiB: its pages leave the page cache.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS BEHIND_LAW, .calls = "work:mmap,madvise,munmap", .run = pageout);
