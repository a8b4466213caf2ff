/* What all `share` methods do to their memory once it is mapped, and how each step is checked outside the clock. */
#include "share.h"
#include "loops.h"
#include <stdio.h>
#include <stdlib.h>

/* The indices of a cell once more, for checking: rand() is started over, or xorshift64*. */
struct replay {
    bool by_rand;
    uint64_t x;
    size_t size;
};

static struct replay replay_from(const struct slot *s)
{
    srand((unsigned)s->seed);
    return (struct replay){key_is(s, "index", "rand"), s->seed | 1, s->bytes};
}

static size_t replay_next(struct replay *r)
{
    return r->by_rand ? (uint32_t)rand() % (uint32_t)r->size : NEXT_BY_XORSHIFT(r->x, r->size);
}

static unsigned char mark_of(const struct slot *s)
{
    return (unsigned char)(s->seed | 1);
}

/* What keeps this cell from being done, in words. */
static const char *obstacle_of(const struct slot *s)
{
    if (s->bytes % s->page_bytes != 0)
        return "bytes is not a multiple of the page size";
    if (key_is(s, "index", "rand") && s->bytes > (size_t)RAND_MAX + 1)
        return "rand() does not reach beyond 2 GiB; use index=xorshift";
    if (s->bytes > UINT32_MAX)
        return "the index sequence does not reach beyond 4 GiB";
    return NULL;
}

void share_begin(struct slot *s, const char *obstacle)
{
    const char *mine = obstacle_of(s);
    agree(s, mine ? mine : obstacle);
    warm_loops();
    if (s->role == 'a')
        load_start(s);
}

void share_begin_alone(struct slot *s)
{
    const char *obstacle = obstacle_of(s);
    if (obstacle)
        skip(s, obstacle);
    warm_loops();
    load_start(s);
}

struct seat share_begin_b(struct slot *s, const char *obstacle)
{
    share_begin(s, obstacle);
    struct seat b = {.p = MAP_FAILED, .bytes = s->bytes, .descriptor = -1, .id = -1};
    agree(s, NULL); /* a could map */
    return b;
}

void share_mapped(struct slot *s, const char *obstacle)
{
    agree(s, obstacle);
}

void share_proof(struct slot *s, const char *p, const char *backing)
{
    char line[512], name[300] = "";
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        fail(s, "open /proc/self/maps");
    bool found = false;
    while (!found && fgets(line, sizeof line, maps)) {
        unsigned long from;
        name[0] = 0;
        found = sscanf(line, "%lx-%*x %*s %*s %*s %*s %299[^\n]", &from, name) >= 1 && from == (uintptr_t)p;
    }
    fclose(maps);
    fact(s, "backed_as_named", found && (*backing ? strstr(name, backing) != NULL : !name[0] || name[0] == '['));
}

void share_touch(struct slot *s, char *start)
{
    volatile char *p = start;
    size_t bytes = s->bytes, page = s->page_bytes;
    char mark = (char)mark_of(s);
    s->ops = bytes / page;
    PHASE(s, "first-touch") {
        for (size_t i = 0; i < bytes; i += page)
            p[i] = mark;
    }
    fact(s, "huge_bytes", resident_in(s, start, bytes).huge_bytes);
}

void share_with_b(struct slot *s, char *p, const char *name)
{
    first_number(s, p);
    meet(s); /* b begins to attach */
    meet(s); /* b is done */
    if (name)
        unlink(name);
    remove_if_lost(NULL);
    first_finds(s, p);
}

static bool word_is_zero(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word == 0;
}

/* Every byte must be what the stores leave there: 0x55 where one of them went, elsewhere what was there before. */
static void check_writes(struct slot *s, unsigned char *p)
{
    if (!s->proofs)
        return; /* it takes longer than all that is measured */
    uint64_t wrong = 0, ops = key_size(s, "ops");
    size_t bytes = s->bytes, page = s->page_bytes, room = bytes / 8;
    unsigned char *stored = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, stored);
    struct replay r = replay_from(s);
    for (uint64_t i = 0; i < ops; i++) {
        size_t at = replay_next(&r);
        stored[at / 8] |= (unsigned char)(1 << at % 8);
    }
    for (size_t at = 0; at < bytes; at++) {
        if (at % 8 == 0 && at % page && stored[at / 8] == 0 && word_is_zero(p + at)) {
            at += 7; /* a whole word where nothing was stored: at -O0 a gibibyte by bytes takes 20 s */
            continue;
        }
        unsigned char before = at % page ? 0 : mark_of(s);
        bool hit = stored[at / 8] >> at % 8 & 1;
        wrong += p[at] != (hit ? 0x55 : before);
        /* With index=rand each language has a sequence of its own; the metric is the memory without its stores. */
        if (r.by_rand && hit)
            p[at] = before;
    }
    munmap(stored, room);
    fact(s, "wrong_bytes", wrong);
    fact_digest(s, p, bytes);
}

void share_write(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    uint64_t ops = key_size(s, "ops"), seed = s->seed;
    s->ops = s->phase_bytes = ops;
    srand((unsigned)seed);
    if (key_is(s, "index", "rand"))
        PHASE(s, "random-write") { write_by_rand(p, bytes, ops); }
    else if (key_is(s, "index", "table")) {
        const uint32_t *table = index_table(s, bytes, ops, seed);
        PHASE(s, "random-write") { write_by_table(p, table, ops); }
    } else
        PHASE(s, "random-write") { write_by_xorshift(p, bytes, ops, seed); }
}

/* The same loop with no store: the rest of random-write is what the memory costs. */
static void index_only(struct slot *s)
{
    size_t bytes = s->bytes;
    uint64_t ops = key_size(s, "ops"), seed = s->seed, sum = 0, expected = 0;
    struct replay r = replay_from(s);
    for (uint64_t i = 0; s->proofs && i < ops; i++)
        expected += replay_next(&r);
    srand((unsigned)seed);
    if (r.by_rand)
        PHASE(s, "index-only") { sum = only_rand(bytes, ops); }
    else if (key_is(s, "index", "table")) {
        const uint32_t *table = index_table(s, bytes, ops, seed);
        PHASE(s, "index-only") { sum = only_table(table, ops); }
    } else
        PHASE(s, "index-only") { sum = only_xorshift(bytes, ops, seed); }
    fact(s, "index_sum", sum);
    fact(s, "expected_index_sum", expected);
}

/* Clears at least `clear_bytes`, and the region at least once. */
static void clear(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    uint64_t clears = (key_size(s, "clear_bytes") + bytes - 1) / bytes;
    s->ops = clears;
    s->phase_bytes = clears * bytes;
    PHASE(s, "clear") { clear_again_and_again(p, bytes, clears); }
    if (s->proofs)
        fact(s, "cleared", digest_of(p, bytes) == bytes * 0x9E3779B97F4A7C15u); /* zero words add nothing */
}

void share_check_clear_read(struct slot *s, char *start)
{
    const unsigned char *p = (unsigned char *)start;
    size_t bytes = s->bytes;
    uint64_t ops = key_size(s, "ops"), seed = s->seed, sum = 0, expected = 0;
    index_only(s);
    check_writes(s, (unsigned char *)start);
    clear(s, start);
    pattern_fill(start, bytes, seed);
    struct replay r = replay_from(s);
    for (uint64_t i = 0; s->proofs && i < ops; i++) {
        size_t at = replay_next(&r);
        expected += pattern_word(seed, at / 8) >> (at % 8 * 8) & 0xFF;
    }
    s->ops = s->phase_bytes = ops;
    srand((unsigned)seed);
    if (r.by_rand)
        PHASE(s, "random-read") { sum = read_by_rand(p, bytes, ops); }
    else if (key_is(s, "index", "table")) {
        const uint32_t *table = index_table(s, bytes, ops, seed);
        PHASE(s, "random-read") { sum = read_by_table(p, table, ops); }
    } else
        PHASE(s, "random-read") { sum = read_by_xorshift(p, bytes, ops, seed); }
    fact(s, "read_sum", sum);
    fact(s, "expected_read_sum", expected);
    load_stop(s);
    s->ops = 1;
    s->phase_bytes = bytes;
}

void share_use(struct slot *s, char *p, const char *name)
{
    share_touch(s, p);
    share_with_b(s, p, name);
    share_write(s, p);
    share_check_clear_read(s, p);
}
