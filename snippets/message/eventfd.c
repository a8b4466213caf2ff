/* A message and its answer through shared memory; an eventfd says that it is there. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
/* The bytes are in memory that both have mapped; an eventfd each way, passed on or inherited: eventfd(0, EFD_CLOEXEC). */
static void tell(int event, char *line, const void *message, size_t bytes)
{
    uint64_t one = 1;
    memcpy(line, message, bytes);
    if (write(event, &one, sizeof one) != sizeof one)
        _exit(1);
}

static void hear(int event, const char *line, void *message, size_t bytes)
{
    uint64_t count;
    if (read(event, &count, sizeof count) != sizeof count)
        _exit(1);
    memcpy(message, line, bytes);
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char message[4096] = "ping", reply[4096] = "";
    if (bytes == 0 || bytes > sizeof message)
        return argc == 2 ? 77 : 1; /* this example carries at most a page */
    int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
    char *lines = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (there < 0 || back < 0 || lines == MAP_FAILED)
        return 1;
    if (fork() == 0) {
        char got[4096];
        hear(there, lines, got, bytes);
        got[0] = 'P';
        tell(back, lines + 4096, got, bytes);
        _exit(0);
    }
    tell(there, lines, message, bytes);
    hear(back, lines + 4096, reply, bytes);
    wait(NULL);
    printf("%zu\n", bytes);
    return reply[0] != 'P';
}
