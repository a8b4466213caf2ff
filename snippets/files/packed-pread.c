/* All files lie in one, which stays open; an index has their places. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- */
static uint64_t use(const unsigned char *data, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum += data[i];
    return sum;
}

static int use_part(int packed, char *buffer, size_t bytes, off_t at, uint64_t *sum)
{
    size_t done = 0;
    ssize_t got = 1;
    while (done < bytes && (got = pread(packed, buffer + done, bytes - done, at + (off_t)done)) > 0)
        done += (size_t)got;
    *sum += use((unsigned char *)buffer, done);
    return done == bytes ? 0 : -1;
}
/* --- */

enum { FILES = 64 };

static int made(const char *name, size_t bytes, int flags)
{
    char *threes = malloc(bytes + 1);
    int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
    if (threes == NULL || file < 0)
        return 0;
    memset(threes, 3, bytes);
    ssize_t done = write(file, threes, bytes);
    free(threes);
    return close(file) == 0 && done == (ssize_t)bytes;
}

int main(int argc, char **argv)
{
    size_t all = argc == 2 ? strtoull(argv[1], NULL, 10) : 0, bytes = all / FILES;
    if (bytes == 0)
        return 1;
    uint64_t sum = 0;
    char *buffer = malloc(bytes);
    int packed = open("packed.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (buffer == NULL || packed < 0)
        return 1;
    for (int i = 0; i < FILES; i++) {
        if (!made("packed.tmp", bytes, O_APPEND) || use_part(packed, buffer, bytes, i * (off_t)bytes, &sum) != 0)
            return 1;
    }
    unlink("packed.tmp");
    printf("%zu\n", all);
    return sum != 3 * (uint64_t)bytes * FILES;
}
