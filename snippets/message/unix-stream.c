/* A message and its answer through a pair of Unix stream sockets. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
/* The channel: int ends[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, ends); one end for each. */
static void tell(int channel, const void *message, size_t bytes)
{
    if (send(channel, message, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        _exit(1);
}

static void hear(int channel, void *message, size_t bytes)
{
    if (recv(channel, message, bytes, MSG_WAITALL) != (ssize_t)bytes)
        _exit(1);
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char message[4096] = "ping", reply[4096] = "";
    if (bytes == 0 || bytes > sizeof message)
        return argc == 2 ? 77 : 1; /* this example carries at most a page */
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    if (fork() == 0) {
        char got[4096];
        hear(ends[1], got, bytes);
        got[0] = 'P';
        tell(ends[1], got, bytes);
        _exit(0);
    }
    tell(ends[0], message, bytes);
    hear(ends[0], reply, bytes);
    wait(NULL);
    printf("%zu\n", bytes);
    return reply[0] != 'P';
}
