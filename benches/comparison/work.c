/* The work itself, and as a program: for hyperfine (work PAIR SIDE REPEAT), and for the truth (work PAIR truth ROUNDS), the
 * ratio of both sides, timed here in turn. */
#define _GNU_SOURCE
#include "work.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 1000000, PAGES = 2000, PAGE_BYTES = 4096, CHUNK_BYTES = 65536 };

static uint64_t steps(uint64_t count)
{
    uint64_t state = 1;
    for (uint64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(state));
    }
    return state;
}

static uint64_t pages(size_t count)
{
    char *p = mmap(NULL, count * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || madvise(p, count * PAGE_BYTES, MADV_NOHUGEPAGE) != 0)
        abort();
    for (size_t i = 0; i < count; i++)
        p[i * PAGE_BYTES] = 1;
    uint64_t sum = (uint64_t)p[(count - 1) * PAGE_BYTES];
    munmap(p, count * PAGE_BYTES);
    return sum;
}

static uint64_t sum_of(const uint64_t *words, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        sum += words[i];
    return sum;
}

static uint64_t file(int by_read)
{
    static uint64_t chunk[CHUNK_BYTES / sizeof(uint64_t)];
    struct stat about;
    int fd = open(getenv("WORK_FILE"), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0)
        abort();
    size_t bytes = (size_t)about.st_size;
    uint64_t sum = 0;
    if (by_read) {
        for (ssize_t got; (got = read(fd, chunk, sizeof chunk)) > 0;)
            sum += sum_of(chunk, (size_t)got);
    } else {
        void *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            abort();
        sum = sum_of(p, bytes);
        munmap(p, bytes);
    }
    close(fd);
    return sum;
}

static uint64_t done(int pair, int side)
{
    switch (pair) {
    case IDENTICAL:
        return steps(STEPS);
    case STEPS_2:
        return steps(STEPS + (side ? STEPS / 50 : 0));
    case STEPS_5:
        return steps(STEPS + (side ? STEPS / 20 : 0));
    case PAGES_5:
        return pages(PAGES + (side ? PAGES / 20 : 0));
    default:
        return file(!side);
    }
}

uint64_t work(int pair, int side)
{
    uint64_t result = done(pair, side);
    __asm__ volatile("" : "+r"(result)); /* used, whoever calls */
    return result;
}

#ifdef PROGRAM
static double seconds(int pair, int side)
{
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    work(pair, side);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The median over rounds of side 1 to side 0, where each round has both orders. */
static double truth(int pair, int rounds)
{
    double *ratios = malloc((size_t)rounds * sizeof *ratios);
    for (int i = 0; i < rounds; i++) {
        double a = seconds(pair, 0), b = seconds(pair, 1);
        b += seconds(pair, 1);
        a += seconds(pair, 0);
        ratios[i] = b / a;
    }
    qsort(ratios, (size_t)rounds, sizeof *ratios, by_value);
    return ratios[rounds / 2];
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int pair = atoi(argv[1]), count = atoi(argv[3]);
    if (strcmp(argv[2], "truth") == 0) {
        printf("%.9f\n", truth(pair, count));
        return 0;
    }
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += work(pair, atoi(argv[2]));
    return sum == 1;
}
#endif
