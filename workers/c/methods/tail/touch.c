#include "tail.h"

static SHARED_BODY void run(struct slot *s, int advice)
{
    bool huge = advice == MADV_HUGEPAGE;
    if (huge)
        need_huge_pages(s);
    struct tail t = tail_begin(s);
    size_t page = s->page_bytes, bytes = (t.ops + TRIAL_OPS) * page;
    char *at = free_range(s, bytes), mark = (char)(s->seed | 1);
    char *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, memory);
    int advised = madvise(memory, bytes, advice);
    if (huge)
        check_huge_advice(s, advised);
    else
        check_done(s, advised != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
    volatile char *p = memory, *trial = p + t.ops * page;
    TAIL_TRIAL(&t, trial[i * page] = mark);
    PHASE(s, "each") { TAIL_LOOP(&t, p[i * page] = mark); }
    munmap(memory, bytes);
    tail_end(s, &t);
}

static void base_pages(struct slot *s) { run(s, MADV_NOHUGEPAGE); }
METHOD(tail_touch, .experiment = "tail", .name = "touch",
       .summary = "The first write to each of so many base pages, one after the other; huge pages are forbidden.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "(ops + 1001) * page_bytes + 8 * ops",
       .laws = TAIL_LAWS "; each.minor_faults == ops", .calls = "each:getrusage?", .run = base_pages);

static void huge_pages(struct slot *s) { run(s, MADV_HUGEPAGE); }
METHOD(tail_thp, .experiment = "tail", .name = "thp",
       .summary = "The same writes where huge pages are permitted: one in 512 waits for a huge page.",
       .phases = TAIL_PHASES, .keys = TAIL_KEYS, .memory = "(ops + 1001) * page_bytes + 8 * ops + 2 * huge_page_bytes",
       .laws = TAIL_LAWS "; each.minor_faults <= ops", .calls = "each:getrusage?", .run = huge_pages);
