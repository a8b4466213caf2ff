/* P5 as published: the loop of a Go benchmark, and what its freed but never unmapped mappings pile up to. */
#include "published.h"
#include "pile.h"

/* The mapping of one turn: unaligned, advised where asked, never unmapped. */
static char *map_anew(struct slot *s, bool huge)
{
    char *p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, p);
    if (huge)
        madvise(p, s->bytes, MADV_HUGEPAGE);
    return p;
}

static void give_back(struct slot *s, char *p)
{
    if (madvise(p, s->bytes, release_advice(s)) != 0)
        fail(s, "madvise");
}

/* How often a benchmark is repeated that took `spent_ns` for `last` turns: a fifth more than should suffice, at most a
 * hundred times and at least once more than before (package testing of Go 1.16). */
static uint64_t predicted(uint64_t last, uint64_t spent_ns, uint64_t goal_ns)
{
    uint64_t turns = goal_ns * last / (spent_ns ? spent_ns : 1);
    turns += turns / 5;
    turns = turns < 100 * last ? turns : 100 * last;
    return turns > last ? turns : last + 1;
}

struct job {
    struct slot *s;
    struct pile pile;
    uint64_t mappings, digest, touched;
    bool huge, stopped;
};

/* One run of `turns`; ends early where freed pages may not accumulate further. Returns the turns made. */
static uint64_t run_of(struct job *job, uint64_t turns, uint64_t *spent_ns)
{
    struct slot *s = job->s;
    uint64_t made = 0, pages = s->bytes / s->page_bytes;
    phase_forget(s, "first-touch");
    pile_start(&job->pile);
    for (uint64_t turn = 0; turn < turns && !job->stopped; turn++) {
        char *p = map_anew(s, job->huge);
        struct part whole = {p, s->bytes, s->page_bytes, page_mark(s)};
        s->ops = ++made * pages;
        s->phase_bytes = made * s->bytes;
        SERIES_PHASE(s, "first-touch") { touch_pages(&whole); }
        pile_turn(s, &job->pile, made, turns);
        job->stopped = pile_full(s, &job->pile, ++job->mappings * s->bytes);
        if (made == turns || job->stopped) {
            job->touched = mapped_present_bytes(s, p, s->bytes);
            job->digest = digest_of(p, s->bytes);
        }
        give_back(s, p);
    }
    *spent_ns = series_so_far(s, "first-touch").wall_ns;
    return made;
}

/* As the smaller sizes of the published benchmark did, one after another in the same process. */
static void pile_up(struct job *job)
{
    struct slot *s = job->s;
    for (uint64_t bytes = 0; bytes <= job->pile.bound_bytes; bytes += s->bytes) {
        char *p = map_anew(s, job->huge);
        struct part whole = {p, s->bytes, s->page_bytes, 1};
        touch_pages(&whole);
        give_back(s, p);
        job->mappings++;
    }
}

void published_run(struct slot *s, bool huge)
{
    if (s->bytes % s->page_bytes != 0)
        skip(s, "bytes is not a multiple of the page size");
    struct job job = {.s = s, .huge = huge};
    pile_open(s, &job.pile);
    if (key_is(s, "piled", "before"))
        pile_up(&job);
    fact(s, "pile_before_bytes", pile_bytes(s, &job.pile));
    uint64_t goal_ns = key_size(s, "benchtime_ms") * 1000000, turns = 1, spent_ns;
    uint64_t made = run_of(&job, turns, &spent_ns);
    while (spent_ns < goal_ns && !job.stopped) {
        turns = predicted(turns, spent_ns, goal_ns);
        made = run_of(&job, turns, &spent_ns);
    }
    fact(s, "iterations", made);
    fact(s, "mappings", job.mappings);
    fact(s, "stopped", job.stopped);
    fact(s, "touched_bytes", job.touched);
    fact(s, "footprint_bytes", s->bytes);
    fact(s, "base_pages_only", !huge_pages_granted(s, huge) && !small_folios_granted(s, huge));
    pile_facts(s, &job.pile);
    fact_digest_value(s, job.digest);
}
