/* A record is durable when pwrite has come back: the file was opened with O_DSYNC. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- */
/* The file: open(path, O_RDWR | O_CREAT | O_DSYNC, 0600). */
static int append_durably(int file, const char *record, size_t bytes, off_t at)
{
    while (bytes > 0) {
        ssize_t done = pwrite(file, record, bytes, at);
        if (done <= 0)
            return -1;
        record += done;
        bytes -= done;
        at += done;
    }
    return 0;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *record = malloc(bytes + 1), *back = malloc(bytes + 1);
    if (bytes == 0 || record == NULL || back == NULL)
        return 1;
    memset(record, 'r', bytes);
    int file = open("records.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_DSYNC, 0600);
    if (file < 0)
        return 1;
    unlink("records.tmp");
    for (off_t n = 0; n < 2; n++)
        if (append_durably(file, record, bytes, n * (off_t)bytes) != 0)
            return 1;
    if (pread(file, back, bytes, (off_t)bytes) != (ssize_t)bytes || memcmp(back, record, bytes) != 0)
        return 1;
    printf("%zu\n", bytes);
    return 0;
}
