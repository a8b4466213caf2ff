/* Each file is read until its end, into one buffer that is kept. */
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

static int use_file(const char *name, char *buffer, size_t room, uint64_t *sum)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    if (file < 0)
        return -1;
    while ((got = read(file, buffer, room)) > 0)
        *sum += use((unsigned char *)buffer, (size_t)got);
    close(file);
    return got == 0 ? 0 : -1;
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
    static char buffer[1 << 16];
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "small-%d.tmp", i);
        if (!made(name, bytes, O_TRUNC) || use_file(name, buffer, sizeof buffer, &sum) != 0)
            return 1;
        unlink(name);
    }
    printf("%zu\n", all);
    return sum != 3 * (uint64_t)bytes * FILES;
}
