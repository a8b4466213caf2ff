/* A record is durable when msync of its pages has come back. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
/* The mapping: ftruncate(file, size); mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0). */
static int append_durably(char *mapping, const char *record, size_t bytes, size_t at)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = at / page * page;
    memcpy(mapping + at, record, bytes); /* SIGBUS where the device is full: fallocate(2) beforehand says so in time */
    return msync(mapping + from, at - from + bytes, MS_SYNC);
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *record = malloc(bytes + 1), *back = malloc(bytes + 1);
    if (bytes == 0 || record == NULL || back == NULL)
        return 1;
    memset(record, 'r', bytes);
    int file = open("records.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return 1;
    unlink("records.tmp");
    if (ftruncate(file, 2 * (off_t)bytes) != 0)
        return 1;
    char *mapping = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapping == MAP_FAILED)
        return 1;
    for (off_t n = 0; n < 2; n++)
        if (append_durably(mapping, record, bytes, (size_t)n * bytes) != 0)
            return 1;
    if (pread(file, back, bytes, (off_t)bytes) != (ssize_t)bytes || memcmp(back, record, bytes) != 0)
        return 1;
    printf("%zu\n", bytes);
    return 0;
}
