#include "tail.h"

static void run(struct slot *s)
{
    struct tail t = tail_begin(s);
    size_t page = s->page_bytes, bytes = (t.ops + TRIAL_OPS) * page;
    char mark = (char)(s->seed | 1);
    char *at = free_range(s, bytes);
    volatile char *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, (const void *)p);
    int advised = madvise((void *)p, bytes, MADV_NOHUGEPAGE);
    check_done(s, advised != 0 && errno != EINVAL, "madvise");
    volatile char *trial = p + t.ops * page;
    TAIL_TRIAL(&t, trial[i * page] = mark);
    PHASE(s, "each") { TAIL_LOOP(&t, p[i * page] = mark); }
    munmap((void *)p, bytes);
    tail_end(s, &t);
}

METHOD(tail_touch, .experiment = "tail", .name = "touch",
       .summary = "The first write to each of so many base pages, one after the other; huge pages are forbidden.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "(ops + 1001) * page_bytes + 8 * ops",
       .laws = TAIL_LAWS "; each.minor_faults == ops", .calls = "each:getrusage?", .run = run);
