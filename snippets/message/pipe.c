/* A message and its answer through two pipes. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
/* The channel: two pipes, one each way. Up to a page (PIPE_BUF) is written whole. */
static void tell(int channel, const void *message, size_t bytes)
{
    if (write(channel, message, bytes) != (ssize_t)bytes)
        _exit(1);
}

static void hear(int channel, char *message, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(channel, message + done, bytes - done);
        if (got <= 0)
            _exit(1);
        done += got;
    }
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char message[4096] = "ping", reply[4096] = "";
    if (bytes == 0 || bytes > sizeof message)
        return argc == 2 ? 77 : 1; /* this example carries at most a page */
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    if (fork() == 0) {
        char got[4096];
        hear(there[0], got, bytes);
        got[0] = 'P';
        tell(back[1], got, bytes);
        _exit(0);
    }
    tell(there[1], message, bytes);
    hear(back[0], reply, bytes);
    wait(NULL);
    printf("%zu\n", bytes);
    return reply[0] != 'P';
}
