/* One large file, written once, written from the question alone; see README.md. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15
static size_t bytes;
static char *source, path[4096];

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

static void put(int file, const char *from, size_t chunk)
{
    for (size_t at = 0; at < bytes; at += chunk)
        if (write(file, from + at, bytes - at < chunk ? bytes - at : chunk) <= 0)
            die("write");
}

static char *anonymous(int huge)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (huge)
        madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static double life(const char *way)
{
    double start = now();
    int place = !strncmp(way, "place-", 6), file = open(path, place ? O_RDWR : O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        die(path);
    if (!strcmp(way, "write") || !strcmp(way, "place-write"))
        put(file, source, 1 << 20);
    else if (!strcmp(way, "buffer") || !strcmp(way, "buffer-thp")) {
        char *p = anonymous(way[6]);
        memcpy(p, source, bytes);
        put(file, p, bytes);
        munmap(p, bytes);
    } else {
        if (!strcmp(way, "fallocate") ? fallocate(file, 0, 0, bytes) : ftruncate(file, bytes))
            die("size");
        char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (p == MAP_FAILED)
            die("mmap");
        if (!strcmp(way, "huge"))
            madvise(p, bytes, MADV_HUGEPAGE);
        memcpy(p, source, bytes);
        munmap(p, bytes);
    }
    close(file);
    return now() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ns[16][ROUNDS];
    if (argc < 5 || argc > 19)
        return 2;
    snprintf(path, sizeof path, "%s/truth-output", argv[1]);
    bytes = strtoul(argv[2], NULL, 10);
    int cached = !strcmp(argv[3], "cached"), ways = argc - 4, folder = open(argv[1], O_RDONLY);
    source = anonymous(0);
    for (size_t i = 0; i < bytes / 8; i++)
        ((size_t *)source)[i] = i * 0x9E3779B97F4A7C15u;
    for (int round = -1; round < ROUNDS; round++)
        for (int i = 0; i < ways; i++) {
            unlink(path);
            if (cached) {
                int old = open(path, O_WRONLY | O_CREAT, 0600);
                put(old, source, 1 << 16);
                fsync(old);
                close(old);
            }
            syncfs(folder);
            char *frames = anonymous(1); /* a file's worth of page frames that nobody has taken back */
            memset(frames, 1, bytes);
            munmap(frames, bytes);
            double spent = life(argv[4 + i]);
            char *back = anonymous(0);
            int file = open(path, O_RDONLY);
            for (size_t at = 0; at < bytes;) {
                ssize_t got = read(file, back + at, bytes - at);
                if (got <= 0)
                    die("read");
                at += got;
            }
            if (memcmp(back, source, bytes))
                exit(printf("%s: wrong content\n", argv[4 + i]));
            close(file);
            munmap(back, bytes);
            if (round >= 0)
                ns[i][round] = spent;
        }
    unlink(path);
    for (int i = 0; i < ways; i++) {
        qsort(ns[i], ROUNDS, sizeof(double), by_value);
        printf("%s %.0f\n", argv[4 + i], ns[i][ROUNDS / 2]);
    }
}
