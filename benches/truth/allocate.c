/* A block got, filled and freed, for the first time in a process or again and again; written from the question alone, see
 * README.md. */
#include "truth.h"

#define ROUNDS 41
#define TURNS 40
static size_t bytes;

static char *get(const char *way)
{
    void *p = NULL;
    if (is(way, "malloc"))
        p = malloc(bytes);
    else if (is(way, "calloc"))
        p = calloc(1, bytes);
    else if (is(way, "thp")) {
        if (posix_memalign(&p, 2 << 20, bytes) == 0)
            madvise(p, bytes, MADV_HUGEPAGE);
    } else
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | (is(way, "populate") ? MAP_POPULATE : 0), -1, 0);
    __asm__ volatile("" : "+r"(p)::"memory");
    return p;
}

static void fill(const char *way, char *p)
{
    if (is(way, "calloc"))
        for (size_t i = 0; i < bytes; i += 4096)
            ((volatile char *)p)[i] = 1;
    else
        memset(p, 0, bytes);
    __asm__ volatile("" ::"r"(p) : "memory");
}

static void give(const char *way, char *p)
{
    if (is(way, "mmap") || is(way, "populate"))
        munmap(p, bytes);
    else
        free(p);
}

/* In a process of its own: the first block, or the median of later turns (free, allocate, fill). */
static double life(const char *way, const char *reuse)
{
    int out[2];
    double ns;
    if (pipe(out))
        exit(1);
    /* Frames of the way's own kind are touched and given back just before, so that a host has them there. */
    char *warm = mmap(NULL, bytes + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(warm, bytes + HUGE, is(way, "thp") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(warm + -(uintptr_t)warm % HUGE, 1, bytes);
    munmap(warm, bytes + HUGE);
    if (fork() == 0) {
        double turn[TURNS];
        char *p = NULL;
        for (int i = 0; i < (is(reuse, "first") ? 1 : TURNS); i++) {
            double start = now();
            if (p && !is(reuse, "kept"))
                give(way, p);
            if (!p || !is(reuse, "kept"))
                p = get(way);
            fill(way, p);
            turn[i] = now() - start;
        }
        if (!is(reuse, "first"))
            qsort(turn + 8, TURNS - 8, sizeof *turn, by_value);
        ns = turn[is(reuse, "first") ? 0 : 8 + (TURNS - 8) / 2];
        _exit(write(out[1], &ns, sizeof ns) != sizeof ns);
    }
    if (read(out[0], &ns, sizeof ns) != sizeof ns)
        exit(1);
    wait(NULL);
    close(out[0]);
    close(out[1]);
    return ns;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: allocate BYTES first|steady|kept malloc|calloc|mmap|populate|thp…\n"), 2;
    bytes = strtoull(argv[1], NULL, 10);
    int ways = argc - 3;
    double ns[8][ROUNDS];
    /* Its children too: frames that another CPU gave back a moment ago cost a fifth more a fault. */
    run_on(0);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < ways; i++)
            ns[(i + r) % ways][r] = life(argv[3 + (i + r) % ways], argv[2]);
    for (int w = 0; w < ways; w++) {
        qsort(ns[w], ROUNDS, sizeof(double), by_value);
        printf("%s %.0f %.0f\n", argv[3 + w], ns[w][ROUNDS / 2], ns[w][ROUNDS / 4]);
    }
}
