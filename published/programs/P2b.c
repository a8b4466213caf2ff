/* P2's second job as its article tells it, by Pagewise: memcpy against a memcpy made of vmsplice, in one process.
 * Build: cc -O0 -Wall -Wextra -o p2b p2b.c
 * Run:   ./p2b memcpy 1048576000; ./p2b vmsplice 1048576000
 * It prints the CPU seconds of one copy. The pipe is made and closed inside the clock; 4096 bytes at a time.
 * A changed copy is compared by: pagewise bench --published P2b mine.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4096, MOVE = 1 };

static int through_pipe(char *to, char *from, size_t bytes)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    for (size_t done = 0; done < bytes; done += PIECE) {
        size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        struct iovec in = {from + done, piece}, out = {to + done, piece};
        if (vmsplice(ends[1], &in, 1, MOVE) != (ssize_t)piece || vmsplice(ends[0], &out, 1, MOVE) != (ssize_t)piece)
            return -1;
    }
    close(ends[0]);
    close(ends[1]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int by_memcpy = strcmp(argv[1], "memcpy") == 0;
    size_t bytes = strtoull(argv[2], NULL, 10);
    char *from = malloc(bytes), *to = malloc(bytes);
    if (!from || !to)
        return 1;
    for (size_t i = 0; i < bytes; i++)
        from[i] = (char)rand();
    memset(to, 1, bytes);
    clock_t start = clock();
    if (by_memcpy)
        memcpy(to, from, bytes);
    else if (through_pipe(to, from, bytes) != 0) {
        perror("vmsplice");
        return 1;
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%f\n", seconds);
    return memcmp(to, from, bytes) != 0;
}
