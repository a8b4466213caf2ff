/* Latency histograms. Counting is no statistic: the laboratory computes quantiles from what is counted here. Buckets are
 * exact below 64 ns; above, each power of two is divided into 32 equal ones, so a bucket is at most 3 % wide. */
#include "core.h"
#include "latency.h"

enum { EXACT = 64, PER_POWER = 32 };

struct bucket {
    int slot, cell;
    uint64_t low_ns, high_ns, count;
};
struct block {
    struct block *next;
    int used;
    struct bucket buckets[512];
};
static struct block *first, *last;

int latency_bucket(uint64_t ns)
{
    if (ns < EXACT)
        return (int)ns;
    int power = 63 - __builtin_clzll(ns);
    return EXACT + (power - 6) * PER_POWER + (int)((ns >> (power - 5)) - PER_POWER);
}

static void bounds_of(int index, uint64_t *low, uint64_t *high)
{
    *low = *high = (uint64_t)index;
    if (index >= EXACT) {
        int power = 6 + (index - EXACT) / PER_POWER;
        *low = (uint64_t)(PER_POWER + (index - EXACT) % PER_POWER) << (power - 5);
        *high = *low + (UINT64_C(1) << (power - 5)) - 1;
    }
}

static void keep(const struct bucket *bucket)
{
    if (!last || last->used == (int)(sizeof last->buckets / sizeof *last->buckets)) {
        struct block *block = arena(sizeof *block);
        block->next = NULL;
        block->used = 0;
        *(last ? &last->next : &first) = block;
        last = block;
    }
    last->buckets[last->used++] = *bucket;
}

bool latency_due(const struct slot *s)
{
    return s->round == request.rounds[request.round_count - 1].number;
}

void latency_record(struct slot *s, const uint64_t *ns, size_t count)
{
    static uint64_t counts[LATENCY_BUCKETS];
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < count; i++)
        counts[latency_bucket(ns[i])]++;
    latency_record_counts(s, counts);
}

void latency_record_counts(struct slot *s, const uint64_t counts[LATENCY_BUCKETS])
{
    for (int i = 0; i < LATENCY_BUCKETS; i++) {
        struct bucket bucket = {.slot = s->number, .cell = s->cell->number, .count = counts[i]};
        bounds_of(i, &bucket.low_ns, &bucket.high_ns);
        if (bucket.count)
            keep(&bucket);
    }
}

void latency_write(void)
{
    for (const struct block *block = first; block; block = block->next)
        for (int i = 0; i < block->used; i++) {
            const struct bucket *b = &block->buckets[i];
            out("latency\t%d\t%d\t%llu\t%llu\t%llu\n", b->slot, b->cell, (unsigned long long)b->low_ns,
                (unsigned long long)b->high_ns, (unsigned long long)b->count);
        }
}
