/* The ladder of caches: what one read costs whose address the read before it gave, over a working set that grows by steps.
 * As long as the set lies in a cache it costs what that cache costs. It shows how much of a cache is there to be had, which
 * on a virtual machine need not be what the hypervisor tells. */
#include "core.h"
#include "verb.h"
#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    FIRST_BYTES = 16 * 1024, /* within the nearest cache of any machine */
    PARTS = 16,              /* a step is timed in so many parts; the quickest but one of each 4 counts */
    STEP_NS = 12 * 1000000,
    WARM = 100000,           /* reads before a step is timed, at most */
};

/* A place that is read, of the size of a line, so that a set fills as much of a cache as its size says. */
struct place {
    struct place *next;
    char rest[64 - sizeof(struct place *)];
};

/* Makes one ring of all places, in an order that no prefetcher foresees: the one after i is (a * i + c) mod count, which comes
 * to each place once where c has no divisor in common with count, and a - 1 is a multiple of each of its prime factors and,
 * as count is, of 4 (Hull and Dobell, 1962). A count is a power of two or three times one. Its places are written in their
 * own order, so that making a ring takes a small part of what walking through it does. */
static void make_ring(struct place *places, uint64_t count)
{
    uint64_t a = 0x9E3779B97F4A7C15u % count / 12 * 12 + 1, c = 0xD1B54A32D192ED03u % count / 6 * 6 + 1;
    for (uint64_t i = 0; i < count; i++)
        places[i].next = &places[(a * i + c) % count];
}

static struct place *walk(struct place *at, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        at = at->next;
    return at;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What one read costs, in picoseconds: the lower quartile of many short walks, so that what took the CPU away counts in
 * none. */
static uint64_t read_ps(struct place *places, size_t count)
{
    uint64_t parts[PARTS], walked = count < WARM ? 2 * count : WARM, begun = now_ns();
    struct place *at = walk(places, walked); /* brings near what making the ring has left far */
    uint64_t warm_ns = now_ns() - begun;
    uint64_t steps = (uint64_t)((unsigned __int128)STEP_NS / PARTS * walked / (warm_ns | 1)) | 1;
    for (int i = 0; i < PARTS; i++) {
        uint64_t start = now_ns();
        at = walk(at, steps);
        parts[i] = (now_ns() - start) * 1000 / steps;
    }
    __asm__ volatile("" : : "r"(at));
    qsort(parts, PARTS, sizeof *parts, ascending);
    return parts[PARTS / 4];
}

static int cache_ladder_main(int argc, char **argv)
{
    (void)argc;
    char *end;
    unsigned long long most = strtoull(argv[0], &end, 10);
    if (!isdigit((unsigned char)argv[0][0]) || *end || most < 1048576 || most > (1ull << 34)) {
        static const char message[] = "cache-ladder: BYTES is a whole number from 1048576 to 17179869184\n";
        (void)!write(2, message, sizeof message - 1);
        return 2;
    }
    struct place *places = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED) {
        static const char message[] = "cache-ladder: no memory for the largest step\n";
        (void)!write(2, message, sizeof message - 1);
        return 3;
    }
    /* Without huge pages the walks of page tables grow with the set, too. */
    madvise(places, most, MADV_HUGEPAGE);
    out("{\"steps\": [");
    const char *between = "";
    for (unsigned long long step = FIRST_BYTES; step <= most; step *= 2)
        for (int half = 0; half < 2; half++) {
            unsigned long long bytes = step + half * (step / 2);
            size_t count = bytes / sizeof *places;
            if (bytes > most)
                break;
            make_ring(places, count);
            out("%s{\"bytes\": %llu, \"read_ps\": %llu}", between, bytes, (unsigned long long)read_ps(places, count));
            between = ", ";
        }
    out("]}\n");
    out_flush();
    return 0;
}

VERB("cache-ladder", "BYTES", cache_ladder_main);
