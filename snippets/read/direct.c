/* Sums a file's bytes past the page cache. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- */
static uint64_t sum_of(const char *path)
{
    size_t piece = 1 << 20; /* address, size and offset of each call are multiples of the device's block */
    unsigned char *buffer = aligned_alloc(4096, piece);
    uint64_t sum = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (file < 0 || buffer == NULL)
        exit(file < 0 ? 77 : 1); /* some file systems, such as tmpfs before Linux 6.6, know no O_DIRECT */
    for (ssize_t got; (got = read(file, buffer, piece)) != 0;) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            exit(1);
        for (ssize_t i = 0; i < got; i++)
            sum += buffer[i];
    }
    close(file);
    free(buffer);
    return sum;
}
/* --- */

int main(int argc, char **argv)
{
    return argc == 2 && printf("%llu\n", (unsigned long long)sum_of(argv[1])) > 0 ? 0 : 1;
}
