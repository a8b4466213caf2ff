/* Tries rings of O_DIRECT reads of several depths and sizes, and brings the records by the fastest. */
#include "fastest.h"

enum { KINDS = 4, TRIES = 2 };
static const struct fastest kinds[KINDS] = {{true, 4}, {true, 16}, {true, 64}, {false, 64}};

static struct {
    struct load *l;
    const uint32_t *ascending;
    size_t *places, *from; /* of each step: its offset, and the number of the first record in it */
    size_t count, step, places_bytes;
    uint64_t fold;
} job;

uint64_t fastest_fold(void)
{
    return job.fold;
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

uint64_t fastest_pass(struct slot *s, struct load *l, const uint32_t *ascending, struct fastest kind, bool timed)
{
    struct steps_ring ring;
    job.l = l;
    job.ascending = ascending;
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
    steps_ring_close(&steps, &ring);
    munmap(job.places, job.places_bytes);
    return spent;
}

/* Tried once a process and cell: a bound that chose anew each time would be one of its luck. */
struct fastest fastest_choose_ring(struct slot *s, struct load *l, const uint32_t *ascending)
{
    static struct {
        const struct cell *cell;
        struct fastest kind;
    } known[16];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (known[i].cell == s->cell)
            return known[i].kind;
    struct fastest best = kinds[0];
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES * KINDS; i++) {
        struct fastest kind = kinds[i % KINDS];
        uint64_t spent = kind.whole || l->record % 4096 == 0 ? fastest_pass(s, l, ascending, kind, false) : UINT64_MAX;
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
