#include "fastest.h"
#include <stdlib.h>

/* The least this machine can take. Hot: the uses alone, over memory in huge pages that is there. Cold: O_DIRECT reads of what
 * is used, as many at once and as large as is best here, each used while others are under way; and the second use from memory.
 * Records are used in ascending order, whatever order the others have to keep. */
static uint32_t *ascending;

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint64_t use_ascending(const struct load *l, size_t from, size_t to)
{
    uint64_t fold = 0;
    for (size_t i = from; i < to; i++)
        fold += record_fold(l->p + ascending[i] * l->record, l->record, ascending[i]);
    return fold;
}

static void run_cold(struct slot *s, struct load *l)
{
    file_on_device(s, l->folder);
    steps_ring_possible(s);
    struct fastest best = fastest_choose_ring(s, l, ascending);
    fastest_pass(s, l, ascending, best, true);
    l->first = fastest_fold();
    PHASE(s, "second-use") { l->second = use_ascending(l, 0, l->count); }
    fact(s, "best_queue_depth", best.depth);
    fact(s, "best_whole", best.whole);
    PHASE(s, "drop") { load_drop(l); }
}

static void run_hot(struct slot *s, struct load *l)
{
    load_open(l, 0);
    load_read(l, 0, l->bytes);
    load_check(s, l);
    uint64_t answered = 0;
    PHASE(s, "open") { }
    PHASE(s, "bring") { }
    PHASE(s, "answer") { answered = use_ascending(l, 0, l->answer); }
    PHASE(s, "first-use") { l->first = use_ascending(l, l->answer, l->count); }
    l->first += answered;
    PHASE(s, "second-use") { l->second = use_ascending(l, 0, l->count); }
    PHASE(s, "drop") { load_drop(l); }
}

static void run(struct slot *s)
{
    need_memory(s);
    struct load l = load_begin(s);
    size_t order_bytes = l.count * sizeof *ascending;
    ascending = mmap(NULL, order_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, ascending);
    memcpy(ascending, l.order, order_bytes);
    qsort(ascending, l.count, sizeof *ascending, by_number);
    load_memory(&l, false);
    load_check(s, &l);
    madvise(l.p, l.bytes, MADV_HUGEPAGE);
    memset(l.p, 0, l.bytes);
    if (key_is(s, "cache", "cold"))
        run_cold(s, &l);
    else
        run_hot(s, &l);
    load_check(s, &l);
    load_proved(s, &l);
    munmap(ascending, order_bytes);
}

METHOD(load_limit, .experiment = "load", .name = "limit", .role = "limit",
       .summary = "Hot: the uses over resident memory. Cold: O_DIRECT by the best of four rings, each step used when it is there.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY,
       .laws = "wrong_first == 0; wrong_second == 0; first-use.minor_faults == 0",
       .calls = "open:openat?,io_uring_setup?,mmap? first-use:io_uring_enter? drop:munmap,close", .run = run);
