/* The file is read into a buffer, and written into a pipe. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
/* The channel: pipe(ends), made larger by fcntl(ends[1], F_SETPIPE_SZ, 1 << 20). */
/* Who has the file. */
static void give(int channel, int file, size_t bytes)
{
    static char buffer[256 * 1024];
    while (bytes > 0) {
        ssize_t got = read(file, buffer, sizeof buffer);
        if (got <= 0)
            _exit(1);
        for (ssize_t at = 0, done; at < got; at += done)
            if ((done = write(channel, buffer + at, (size_t)(got - at))) <= 0)
                _exit(1);
        bytes -= (size_t)got;
    }
}

/* Who needs the content. */
static void take(int channel, char *block, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = read(channel, block, bytes);
        if (got <= 0)
            _exit(1);
        block += got;
        bytes -= (size_t)got;
    }
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned char *mine = calloc(1, bytes + 1), *wanted = malloc(bytes + 1);
    if (bytes == 0 || mine == NULL || wanted == NULL)
        return 1;
    for (size_t i = 0; i < bytes; i++)
        wanted[i] = (unsigned char)(i * 7 + i / 251);
    int file = open("relayed.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, wanted, bytes) != (ssize_t)bytes || lseek(file, 0, SEEK_SET) != 0)
        return 1;
    unlink("relayed.tmp");
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    (void)!fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    pid_t child = fork();
    if (child == 0) {
        give(ends[1], file, bytes);
        _exit(0);
    }
    take(ends[0], (char *)mine, bytes);
    int status = 1;
    waitpid(child, &status, 0);
    printf("%zu\n", bytes);
    return status != 0 || memcmp(mine, wanted, bytes) != 0;
}
