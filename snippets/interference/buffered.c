/* A file is read from its start to its end through the page cache. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- */
enum { STEP = 1 << 20 };

static int scan(const char *path, size_t *used)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    char *buffer = malloc(STEP);
    ssize_t got = -1;
    while (file >= 0 && buffer && (got = read(file, buffer, STEP)) > 0)
        *used += (size_t)got; /* buffer[0] to buffer[got - 1] are used here */
    free(buffer);
    close(file);
    return got < 0;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 1048576 * 1048576 : 0, used = 0;
    char path[] = "scanned-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (pwrite(file, &at, sizeof at, (off_t)at) != sizeof at)
            return 1;
    if (fsync(file) != 0 || close(file) != 0)
        return 1;
    int status = scan(path, &used);
    unlink(path);
    if (status == 0)
        printf("%zu\n", used);
    return status;
}
