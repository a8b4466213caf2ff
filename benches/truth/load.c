/* A large read-only file, used once and once more, written from the question alone; see README.md. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define ROUNDS 11
static size_t bytes, count;
static unsigned *order;
static char *p;
static int file;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void bring(size_t from, size_t to)
{
    for (size_t at = from; at < to;) {
        size_t want = to - at < 1 << 20 ? to - at : 1 << 20;
        ssize_t got = pread(file, p + at, want, at);
        if (got <= 0)
            die("pread");
        at += got;
    }
}

static void *eighth(void *number)
{
    size_t part = bytes / 8, from = (size_t)number * part;
    bring(from, from + part);
    return NULL;
}

static uint64_t use(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *words = (const uint64_t *)(p + order[i] * PAGE);
        for (size_t k = 0; k < PAGE / 8; k++)
            sum += words[k];
    }
    return sum;
}

static double life(const char *path, const char *way, uint64_t *sum)
{
    double start = now();
    int direct = !strcmp(way, "direct"), copies = direct || !strncmp(way, "read", 4);
    file = open(path, O_RDONLY | (direct ? O_DIRECT : 0));
    if (file < 0)
        die(path);
    p = mmap(NULL, bytes, PROT_READ | (copies ? PROT_WRITE : 0),
             copies ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | (!strcmp(way, "populate") ? MAP_POPULATE : 0),
             copies ? -1 : file, 0);
    if (p == MAP_FAILED)
        die("mmap");
    if (direct || !strcmp(way, "read-thp"))
        madvise(p, bytes, MADV_HUGEPAGE);
    if (!strcmp(way, "willneed"))
        madvise(p, bytes, MADV_WILLNEED);
    if (direct) {
        pthread_t threads[8];
        for (size_t i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, eighth, (void *)i);
        for (size_t i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    } else if (copies)
        bring(0, bytes);
    *sum = use();
    double spent = now() - start;
    if (use() != *sum)
        exit(printf("%s: the second use differs\n", way));
    munmap(p, bytes);
    close(file);
    return spent;
}

static int by_value(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ns[16][ROUNDS];
    if (argc < 6 || argc > 20)
        return 2;
    bytes = strtoul(argv[2], NULL, 10);
    count = bytes / PAGE;
    int cold = !strcmp(argv[3], "cold"), ways = argc - 5;
    order = malloc(count * sizeof *order);
    srand(5);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0 && !strcmp(argv[4], "random"); i--) {
        size_t k = rand() % (i + 1);
        unsigned t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    int made = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    uint64_t *chunk = malloc(1 << 20), expected = 0, sum;
    for (size_t at = 0; at < bytes; at += 1 << 20) {
        for (size_t i = 0; i < 1 << 17; i++)
            expected += chunk[i] = (at + i) * 0x9E3779B97F4A7C15u;
        if (write(made, chunk, 1 << 20) != 1 << 20)
            die("write");
    }
    fsync(made);
    for (int round = -1; round < ROUNDS; round++)
        for (int i = 0; i < ways; i++) {
            /* A hot file was read in just before; one that was used eleven times lies in a large cache of the processor. */
            posix_fadvise(made, 0, 0, POSIX_FADV_DONTNEED);
            if (!cold)
                for (size_t at = 0; at < bytes; at += 1 << 17)
                    if (pread(made, chunk, 1 << 17, at) <= 0)
                        die("pread");
            double spent = life(argv[1], argv[5 + i], &sum);
            if (sum != expected)
                exit(printf("%s: wrong content\n", argv[5 + i]));
            if (round >= 0)
                ns[i][round] = spent;
        }
    unlink(argv[1]);
    for (int i = 0; i < ways; i++) {
        qsort(ns[i], ROUNDS, sizeof(double), by_value);
        printf("%s %.0f\n", argv[5 + i], ns[i][ROUNDS / 2]);
    }
}
