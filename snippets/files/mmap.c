/* Each file is mapped, used and unmapped. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
static uint64_t use(const unsigned char *data, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum += data[i];
    return sum;
}

static int use_file(const char *name, uint64_t *sum)
{
    int file = open(name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        return -1;
    size_t bytes = (size_t)status.st_size;
    if (bytes == 0) /* nothing can be mapped */
        return close(file);
    unsigned char *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED)
        return -1;
    *sum += use(data, bytes);
    return munmap(data, bytes);
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
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "small-%d.tmp", i);
        if (!made(name, bytes, O_TRUNC) || use_file(name, &sum) != 0)
            return 1;
        unlink(name);
    }
    printf("%zu\n", all);
    return sum != 3 * (uint64_t)bytes * FILES;
}
