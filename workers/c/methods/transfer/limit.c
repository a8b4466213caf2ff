#include "transfer.h"
#include "streaming.h"

/* The best plain copy of the block by the processors of both sides: each copies its part within its own memory, or side a
 * copies all. Which candidate is best is found out before the clock, once for each cell of a launch. */
typedef void copy_bytes(char *to, const char *from, size_t bytes);
static void by_memcpy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
static const struct candidate {
    const char *name;
    copy_bytes *copy;
    unsigned sides;
} candidates[] = {{"memcpy by both sides", by_memcpy, 2}, {"streaming stores by both sides", stream_copy, 2},
                  {"memcpy by one side", by_memcpy, 1}, {"streaming stores by one side", stream_copy, 1}};
enum { CANDIDATES = 4, TRIES = 3 };
struct share {
    size_t start, bytes;
};

static struct share share_of(const struct slot *s, const struct candidate *by)
{
    size_t half = by->sides == 1 ? s->bytes : (s->bytes / 2 + 63) / 64 * 64;
    half = half < s->bytes ? half : s->bytes;
    return s->role == 'a' ? (struct share){0, half} : (struct share){half, s->bytes - half};
}

/* Side a's clock decides: from where both leave together to where both are done. */
static const struct candidate *find_best(struct slot *s, char *to, const char *from)
{
    static const struct cell *known;
    static uint32_t best;
    if (known == s->cell)
        return &candidates[best];
    uint64_t best_ns = UINT64_MAX;
    for (uint32_t i = 0; i < TRIES * CANDIDATES; i++) {
        struct share mine = share_of(s, &candidates[i % CANDIDATES]);
        meet(s);
        uint64_t start = now_ns();
        candidates[i % CANDIDATES].copy(to + mine.start, from + mine.start, mine.bytes);
        uint64_t spent = now_ns() - start, theirs;
        tell(s, &spent, sizeof spent);
        hear(s, &theirs, sizeof theirs);
        spent = theirs > spent ? theirs : spent; /* the same number on both sides, so both choose alike */
        best = spent < best_ns ? i % CANDIDATES : best;
        best_ns = spent < best_ns ? spent : best_ns;
    }
    known = s->cell;
    return &candidates[best];
}

/* The rest, which is the other side's part, comes after the clock, so that the whole can be proved. */
static void copy_rest(const struct slot *s, char *to, const char *from, struct share mine)
{
    memcpy(to, from, mine.start);
    memcpy(to + mine.start + mine.bytes, from + mine.start + mine.bytes, s->bytes - mine.start - mine.bytes);
}

static void run(struct slot *s)
{
    size_t bytes = s->bytes;
    char *from = transfer_source(s), *to = block_resident(s, bytes);
    const struct candidate *by = find_best(s, to, from);
    struct share mine = share_of(s, by);
    fact_word(s, "best_candidate", by->name);
    memset(to, 0xa5, bytes);
    meet(s);
    PHASE(s, "send") { by->copy(to + mine.start, from + mine.start, mine.bytes); }
    meet(s);
    copy_rest(s, to, from, mine);
    block_prove(s, to, bytes);
    fact(s, "footprint_bytes", 2 * (uint64_t)bytes);
    block_huge_fact(s, "huge_bytes", to, bytes);
}

static void run_b(struct slot *s)
{
    size_t bytes = s->bytes;
    char *from = transfer_source(s), *to = block_resident(s, bytes);
    const struct candidate *by = find_best(s, to, from);
    struct share mine = share_of(s, by);
    memset(to, 0xa5, bytes);
    meet(s);
    PHASE(s, "receive") { by->copy(to + mine.start, from + mine.start, mine.bytes); }
    meet(s);
    copy_rest(s, to, from, mine);
    fact(s, "b.wrong_at", pattern_first_wrong(to, bytes, s->seed));
    block_huge_fact(s, "b.huge_bytes", to, bytes);
}

METHOD(transfer_limit, .experiment = "transfer", .name = "limit", .role = "limit",
       .summary = "The best plain copy of the block, source and destination resident: by the processors of both sides, each copying its part within its own memory, or by one (the fact best_candidate tells).",
       .phases = "send receive", .keys = TRANSFER_KEYS PAGES_KEY, .memory = "2 * bytes",
       .laws = "wrong_at == bytes; b.wrong_at == bytes; " PIN_LAWS RESIDENT_LAWS, .calls = "", .run = run, .run_b = run_b);
