/* A block taken out of the other process's memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
/* The receiver takes the block out of the sender, which has told it where the block lies and waits until it is told that it was
 * taken. It needs the right to trace the sender. Where Yama's ptrace_scope is 1, the sender says prctl(PR_SET_PTRACER, pid). */
static int take(pid_t sender, const void *there, char *block, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        struct iovec mine = {block + done, bytes - done}, its = {(char *)there + done, bytes - done};
        ssize_t got = process_vm_readv(sender, &mine, 1, &its, 1, 0);
        if (got <= 0)
            return -1;
        done += got;
    }
    return 0;
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
    unsigned char *block = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    int ready[2], taken[2];
    char word = 0;
    if (bytes == 0 || block == NULL || wanted == NULL || pipe(ready) != 0 || pipe(taken) != 0)
        return 1;
    fill(wanted, bytes);
    pid_t child = fork();
    if (child == 0) {
        fill(block, bytes);
        prctl(PR_SET_PTRACER, getppid());
        if (write(ready[1], &word, 1) != 1 || read(taken[0], &word, 1) != 1)
            _exit(1);
        _exit(0);
    }
    int failed = read(ready[0], &word, 1) != 1 || take(child, block, (char *)block, bytes) != 0;
    int why = errno, status = 1;
    if (write(taken[1], &word, 1) != 1)
        return 1;
    waitpid(child, &status, 0);
    if (failed)
        return why == EPERM || why == ENOSYS ? 77 : 1; /* not permitted here */
    printf("%zu\n", bytes);
    return status != 0 || memcmp(block, wanted, bytes) != 0;
}
