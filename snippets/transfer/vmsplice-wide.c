/* A block through a wide pipe which lends the sender's pages. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
/* The channel: int ends[2]; pipe(ends); fcntl(ends[1], F_SETPIPE_SZ, 1 << 20). */

/* The sender. Its pages are in the pipe: it must leave them alone until the receiver has read them. */
static void give(int channel, const char *block, size_t bytes)
{
    while (bytes > 0) {
        struct iovec piece = {(void *)block, bytes};
        ssize_t done = vmsplice(channel, &piece, 1, 0);
        if (done <= 0)
            _exit(1);
        block += done;
        bytes -= done;
    }
}

/* The receiver: this is the one copy. */
static void take(int channel, char *block, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = read(channel, block, bytes);
        if (done <= 0)
            _exit(1);
        block += done;
        bytes -= done;
    }
}
/* --- */

static void fill(unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)(i * 7 + i / 251);
}

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned char *mine = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    if (bytes == 0 || mine == NULL || wanted == NULL)
        return 1;
    fill(wanted, bytes);
    int ends[2];
    if (pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0)
        return 77; /* too wide for this user */
    pid_t child = fork();
    if (child == 0) {
        fill(mine, bytes);
        give(ends[1], (char *)mine, bytes);
        _exit(0);
    }
    take(ends[0], (char *)mine, bytes);
    int status = 1;
    waitpid(child, &status, 0);
    printf("%zu\n", bytes);
    return status != 0 || memcmp(mine, wanted, bytes) != 0;
}
