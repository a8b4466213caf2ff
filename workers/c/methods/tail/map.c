#include "tail.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    size_t bytes = 64 << 10, failed = 0;
    char mark = (char)(s->seed | 1);
    TAIL_TRIAL(&t, {
        char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        failed += p == MAP_FAILED || (*p = mark, munmap(p, bytes)) != 0;
    });
    PHASE(s, "each") {
        TAIL_LOOP(&t, {
            char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            failed += p == MAP_FAILED || (*p = mark, munmap(p, bytes)) != 0;
        });
    }
    check_done(s, failed != 0, "mmap");
    tail_end(s, &t);
}

METHOD(tail_map, .experiment = "tail", .name = "map", .group = "map",
       .summary = "mmap() of 64 KiB, a write to its first page, munmap().", .phases = TAIL_PHASES, .keys = TAIL_KEYS,
       .memory = "8 * ops + 65536", .laws = TAIL_LAWS "; each.minor_faults >= ops",
       .calls = "each:mmap,munmap,getrusage?", .run = run);
