/* Two processes add to a counter each, in one cache line or in two; written from the question alone, see README.md. */
#include "truth.h"

#define ADDITIONS 3000000
static int atomically;
static char *page;

static void add(char *at)
{
    if (atomically)
        for (int i = 0; i < ADDITIONS; i++)
            atomic_fetch_add((atomic_ulong *)at, 1);
    else
        for (int i = 0; i < ADDITIONS; i++)
            ++*(volatile unsigned long *)at;
}

static double once(const char *way)
{
    size_t apart = is(way, "one") ? 8 : is(way, "adjacent") ? 64 : 512;
    atomic_int *here = (atomic_int *)(page + 2048);
    memset(page, 0, 4096);
    pid_t child = fork();
    if (child == 0) {
        run_on(1);
        atomic_fetch_add(here, 1);
        while (atomic_load(here) < 2)
            ;
        add(page + apart);
        _exit(0);
    }
    while (atomic_load(here) < 1)
        ;
    atomic_fetch_add(here, 1);
    double start = now();
    add(page);
    double spent = now() - start;
    waitpid(child, NULL, 0);
    return spent / ADDITIONS;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "usage: false-sharing atomic|plain two|one|adjacent…\n"), 2;
    atomically = is(argv[1], "atomic");
    page = shared(4096);
    run_on(0);
    take_turns(argv + 2, argc - 2, 41, once);
}
