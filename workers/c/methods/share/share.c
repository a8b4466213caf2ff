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
    if (r->by_rand)
        return (size_t)rand() % r->size;
    r->x ^= r->x >> 12;
    r->x ^= r->x << 25;
    r->x ^= r->x >> 27;
    return (r->x * XORSHIFT_FACTOR >> 32) % r->size;
}

static unsigned char mark_of(const struct slot *s)
{
    return (unsigned char)(s->seed | 1);
}

void share_begin(struct slot *s)
{
    if (s->bytes % s->page_bytes != 0)
        skip(s, "bytes is not a multiple of the page size");
    if (key_is(s, "index", "rand") && s->bytes > (size_t)RAND_MAX + 1)
        skip(s, "rand() does not reach beyond 2 GiB; use index=xorshift");
    if (s->bytes > UINT32_MAX)
        skip(s, "the index sequence does not reach beyond 4 GiB");
    warm_loops();
    load_start(s);
}

void share_proof(struct slot *s, const char *p, const char *backing)
{
    char line[512], name[300] = "", permissions[8] = "";
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        fail(s, "open /proc/self/maps");
    bool found = false;
    while (!found && fgets(line, sizeof line, maps)) {
        unsigned long from;
        name[0] = 0;
        found = sscanf(line, "%lx-%*x %7s %*s %*s %*s %299[^\n]", &from, permissions, name) >= 2 && from == (uintptr_t)p;
    }
    fclose(maps);
    fact(s, "shared", found && permissions[3] == 's');
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

/* Every store must be found. With index=rand each language has its own sequence, so the stores are then taken back: what is
 * left must be what first-touch left, in every language the same, or a store went where it should not. */
static void check_writes(struct slot *s, unsigned char *p)
{
    uint64_t lost = 0, ops = key_size(s, "ops");
    struct replay r = replay_from(s);
    for (uint64_t i = 0; i < ops; i++)
        lost += p[replay_next(&r)] != 0x55;
    fact(s, "lost_writes", lost);
    if (r.by_rand) {
        r = replay_from(s);
        for (uint64_t i = 0; i < ops; i++) {
            size_t at = replay_next(&r);
            p[at] = at % s->page_bytes ? 0 : mark_of(s);
        }
    }
    fact_digest(s, p, s->bytes);
}

void share_write(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    uint64_t ops = key_size(s, "ops"), seed = s->seed;
    s->ops = s->phase_bytes = ops;
    srand((unsigned)seed);
    if (key_is(s, "index", "rand"))
        PHASE(s, "random-write") { write_by_rand(p, bytes, ops); }
    else
        PHASE(s, "random-write") { write_by_xorshift(p, bytes, ops, seed); }
}

/* Clears at least `clear_bytes`, and the region at least once. */
static void clear(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    uint64_t clears = (key_size(s, "clear_bytes") + bytes - 1) / bytes;
    s->ops = clears;
    s->phase_bytes = clears * bytes;
    PHASE(s, "clear") { clear_again_and_again(p, bytes, clears); }
    fact(s, "cleared", digest_of(p, bytes) == bytes * 0x9E3779B97F4A7C15u); /* zero words add nothing */
}

void share_check_clear_read(struct slot *s, char *start)
{
    const unsigned char *p = (unsigned char *)start;
    size_t bytes = s->bytes;
    uint64_t ops = key_size(s, "ops"), seed = s->seed, sum = 0, expected = 0;
    check_writes(s, (unsigned char *)start);
    clear(s, start);
    pattern_fill(start, bytes, seed);
    struct replay r = replay_from(s);
    for (uint64_t i = 0; i < ops; i++) {
        size_t at = replay_next(&r);
        expected += pattern_word(seed, at / 8) >> (at % 8 * 8) & 0xFF;
    }
    s->ops = s->phase_bytes = ops;
    srand((unsigned)seed);
    if (r.by_rand)
        PHASE(s, "random-read") { sum = read_by_rand(p, bytes, ops); }
    else
        PHASE(s, "random-read") { sum = read_by_xorshift(p, bytes, ops, seed); }
    fact(s, "read_sum", sum);
    fact(s, "expected_read_sum", expected);
    load_stop(s);
    s->ops = 1;
    s->phase_bytes = bytes;
}

void share_use(struct slot *s, char *p)
{
    share_touch(s, p);
    share_write(s, p);
    share_check_clear_read(s, p);
}
