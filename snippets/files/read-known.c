/* Each file's size is known: one read call brings all of it, and none looks for the end. */
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

/* `bytes` is the size, from an index of one's own or from fstat(2); the buffer has at least as many. */
static int use_file(const char *name, char *buffer, size_t bytes, uint64_t *sum)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    ssize_t got = 1;
    if (file < 0)
        return -1;
    while (done < bytes && (got = read(file, buffer + done, bytes - done)) > 0)
        done += (size_t)got;
    close(file);
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
    if (buffer == NULL)
        return 1;
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "small-%d.tmp", i);
        if (!made(name, bytes, O_TRUNC) || use_file(name, buffer, bytes, &sum) != 0)
            return 1;
        unlink(name);
    }
    printf("%zu\n", all);
    return sum != 3 * (uint64_t)bytes * FILES;
}
