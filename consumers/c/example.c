/* A program that follows advice: it sums the bytes of a file by read or by a mapping, as the machine's advice says, and by
 * read where it says nothing. `example FILE` prints the way it took and the sum; `example FILE read|mmap|mmap-populate` takes
 * that way whatever is advised; `example FILE advised TIMES` goes through the file so often, as a program does that reads many.
 * Loading the advice takes a fraction of a millisecond: it is worth that where more than one small file is read.
 *
 *     cc -O2 -pthread example.c pagewise_advice.c */
#define _GNU_SOURCE
#include "pagewise_advice.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t sum(const unsigned char *p, size_t bytes)
{
    uint64_t total = 0;
    for (size_t i = 0; i < bytes; i++)
        total += p[i];
    return total;
}

static uint64_t by_read(int file)
{
    static unsigned char buffer[64 * 1024];
    uint64_t total = 0;
    for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
        total += sum(buffer, got);
    return total;
}

static uint64_t by_mapping(int file, size_t bytes, int flags)
{
    unsigned char *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | flags, file, 0);
    if (p == MAP_FAILED)
        return by_read(file);
    uint64_t total = sum(p, bytes);
    munmap(p, bytes);
    return total;
}

static uint64_t pass(const char *path, const char *way)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) {
        fprintf(stderr, "usage: example FILE [advised|read|mmap|mmap-populate [TIMES]]\n");
        exit(1);
    }
    uint64_t total;
    if (strcmp(way, "mmap") == 0)
        total = by_mapping(file, status.st_size, 0);
    else if (strcmp(way, "mmap-populate") == 0)
        total = by_mapping(file, status.st_size, MAP_POPULATE);
    else
        total = by_read(file);
    close(file);
    return total;
}

int main(int argc, char **argv)
{
    struct stat status = {0};
    const char *path = argc > 1 ? argv[1] : "", *way = argc > 2 ? argv[2] : "advised";
    stat(path, &status);
    if (strcmp(way, "advised") == 0)
        way = pagewise_advice("read", status.st_size, "cache=hot");
    if (way == NULL)
        way = "read (the default)";
    long times = argc > 3 ? atol(argv[3]) : 1;
    uint64_t total = 0;
    for (long i = 0; i < times; i++)
        total += pass(path, way);
    printf("%s\n%llu\n", way, (unsigned long long)total);
    return 0;
}
