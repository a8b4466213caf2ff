#include "load.h"
#include <stdlib.h>

/* The least this machine can take. Hot: the uses alone, over memory in huge pages that is there. Cold: O_DIRECT reads of what
 * is used, as many at once and as large as is best here, each used while others are under way; and the second use from memory.
 * Records are used in ascending order, whatever order the others have to keep. */
enum { KINDS = 4, TRIES = 2 };

struct kind {
    bool whole;     /* all of the file in large steps, or a step for each record */
    unsigned depth;
};
static const struct kind kinds[KINDS] = {{true, 4}, {true, 16}, {true, 64}, {false, 64}};

static struct {
    struct load *l;
    const uint32_t *ascending;
    size_t *places, *from; /* of each step: its offset, and the number of the first record in it */
    size_t count, step, places_bytes;
    uint64_t fold;
} job;

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void use_step(void *owner, size_t i)
{
    struct load *l = job.l;
    (void)owner;
    for (size_t k = job.from[i]; k < job.from[i + 1]; k++)
        job.fold += record_fold(l->p + job.ascending[k] * l->record, l->record, job.ascending[k]);
}

static void make_steps(struct slot *s, struct load *l, bool whole)
{
    job.step = whole ? READ_BYTES : l->record;
    size_t all = (l->bytes + job.step - 1) / job.step;
    job.count = whole ? all : l->count;
    job.places_bytes = (2 * job.count + 1) * sizeof *job.places;
    job.places = mmap(NULL, job.places_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, job.places);
    job.from = job.places + job.count;
    for (size_t i = 0, k = 0; i < job.count; i++) {
        job.places[i] = whole ? i * job.step : job.ascending[i] * l->record;
        job.from[i] = k;
        while (k < l->count && job.ascending[k] * l->record < job.places[i] + job.step)
            k++;
    }
    job.from[job.count] = l->count;
}

static uint64_t pass(struct slot *s, struct load *l, struct kind kind, bool timed)
{
    struct steps_ring ring;
    make_steps(s, l, kind.whole);
    struct steps steps = {.memory = l->p, .at = job.places, .bytes = l->bytes, .step = job.step, .depth = kind.depth,
                          .done = use_step};
    uint64_t start = now_ns();
    job.fold = 0;
    if (timed) {
        PHASE(s, "open") {
            load_open(l, O_DIRECT);
            steps.file = l->file;
            steps_ring_open(&steps, &ring);
        }
        PHASE(s, "bring") { }
        PHASE(s, "answer") { }
        PHASE(s, "first-use") { steps_ring_pass(&steps, &ring, 0, job.count); }
    } else {
        load_open(l, O_DIRECT);
        steps.file = l->file;
        steps_ring_open(&steps, &ring);
        steps_ring_pass(&steps, &ring, 0, job.count);
        close(l->file);
    }
    uint64_t spent = now_ns() - start;
    errno = steps.error;
    if (steps.failed)
        load_lost(l, steps.failed);
    load_check(s, l);
    steps_ring_close(&ring);
    munmap(job.places, job.places_bytes);
    return spent;
}

/* Tried once a process and cell: a bound that chose anew each time would be one of its luck. */
static struct kind choose(struct slot *s, struct load *l)
{
    static struct {
        const struct cell *cell;
        struct kind kind;
    } known[16];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (known[i].cell == s->cell)
            return known[i].kind;
    struct kind best = kinds[0];
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES * KINDS; i++) {
        struct kind kind = kinds[i % KINDS];
        uint64_t spent = kind.whole || l->record % 4096 == 0 ? pass(s, l, kind, false) : UINT64_MAX;
        if (spent < least) {
            least = spent;
            best = kind;
        }
    }
    if (count < sizeof known / sizeof *known) {
        known[count].cell = s->cell;
        known[count++].kind = best;
    }
    return best;
}

static uint64_t use_ascending(struct load *l, size_t from, size_t to)
{
    uint64_t fold = 0;
    for (size_t i = from; i < to; i++)
        fold += record_fold(l->p + job.ascending[i] * l->record, l->record, job.ascending[i]);
    return fold;
}

static void run_cold(struct slot *s, struct load *l)
{
    file_on_device(s, l->folder);
    steps_ring_possible(s);
    struct kind best = choose(s, l);
    pass(s, l, best, true);
    l->first = job.fold;
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
    struct load l = load_begin(s);
    size_t order_bytes = l.count * sizeof *job.ascending;
    uint32_t *ascending = mmap(NULL, order_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, ascending);
    memcpy(ascending, l.order, order_bytes);
    qsort(ascending, l.count, sizeof *ascending, by_number);
    job.l = &l;
    job.ascending = ascending;
    load_memory(&l, false);
    load_check(s, &l);
    madvise(l.p, l.bytes, MADV_HUGEPAGE);
    memset(l.p, 0, l.bytes);
    if (key_is(s, "cache", "hot"))
        run_hot(s, &l);
    else
        run_cold(s, &l);
    load_check(s, &l);
    load_proved(s, &l);
    munmap(ascending, order_bytes);
}

METHOD(load_limit, .experiment = "load", .name = "limit", .role = "limit",
       .summary = "Hot: the uses over resident memory. Cold: O_DIRECT by the best of four rings, each step used when it is there.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY,
       .laws = "wrong_first == 0; wrong_second == 0; first-use.minor_faults == 0",
       .calls = "open:openat?,io_uring_setup?,mmap? first-use:io_uring_enter? drop:munmap,close", .run = run);
