#include "interference.h"

/* Anonymous memory is filled and given back, so much at a time, until all bytes were filled. */
static void run(struct slot *s)
{
    struct scan w = scan_begin(s, 0);
    size_t number = 0, page = w.page;
    PHASE(s, "work") {
        for (size_t from = 0; from < w.bytes && !w.failed; from += w.at_a_time) {
            size_t bytes = from + w.at_a_time < w.bytes ? w.at_a_time : w.bytes - from;
            char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (p == MAP_FAILED) {
                scan_lost(&w, "mmap");
                break;
            }
            for (size_t at = 0; at < bytes; at += page)
                *(uint64_t *)(p + at) = number++;
            for (size_t at = 0; at < bytes; at += page)
                w.sum += *(uint64_t *)(p + at);
            w.moved += bytes;
            if (munmap(p, bytes) != 0)
                scan_lost(&w, "munmap");
        }
    }
    scan_end(s, &w);
}

METHOD(interference_fill, .experiment = "interference", .name = "fill",
       .summary = "Anonymous memory is written to, a word a page, and given back, five quarters of the hot set at a time.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("memory"),
       .memory = INTERFERENCE_MEMORY " + " MEMORY_AT_A_TIME,
       .laws = WORK_LAWS "; work.minor_faults + work.major_faults >= bytes / 2097152", .calls = "work:mmap,munmap", .run = run);
