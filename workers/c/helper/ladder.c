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
    STEP_NS = 30 * 1000000,
};

/* A place that is read, of the size of a line, so that a set fills as much of a cache as its size says. */
struct place {
    struct place *next;
    char rest[64 - sizeof(struct place *)];
};

static uint64_t random_state = 0x9E3779B97F4A7C15u;

static uint64_t random_below(uint64_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint64_t)(((unsigned __int128)random_state * bound) >> 64);
}

/* Lets places [from, to) join the one ring through all before them, each behind one that is chosen at random: every order
 * of the ring is as likely as any other, and a larger step need not begin anew. */
static void join(struct place *places, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct place *behind = i == 0 ? &places[0] : &places[random_below(i)];
        places[i].next = i == 0 ? &places[0] : behind->next;
        behind->next = &places[i];
    }
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
    uint64_t parts[PARTS], begun = now_ns();
    struct place *at = walk(places, count < 400000 ? 2 * count : 800000); /* brings the set near */
    uint64_t warm_ns = now_ns() - begun, walked = count < 400000 ? 2 * count : 800000;
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
    size_t joined = 0;
    for (unsigned long long step = FIRST_BYTES; step <= most; step *= 2)
        for (int half = 0; half < 2; half++) {
            unsigned long long bytes = step + half * (step / 2);
            size_t count = bytes / sizeof *places;
            if (bytes > most)
                break;
            join(places, joined, count);
            const char *between = joined ? ", " : "";
            joined = count;
            out("%s{\"bytes\": %llu, \"read_ps\": %llu}", between, bytes, (unsigned long long)read_ps(places, count));
        }
    out("]}\n");
    out_flush();
    return 0;
}

VERB("cache-ladder", "BYTES", cache_ladder_main);
