/* A System V segment. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
static void *shared(size_t bytes)
{
    int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600); /* others attach it by its number */
    if (id < 0)
        return NULL;
    void *p = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL); /* it goes with the last process that has it; others can attach it until then (Linux) */
    return p == (void *)-1 ? NULL : p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *p = bytes == 0 ? NULL : shared(bytes);
    if (p == NULL)
        return 1;
    if (fork() == 0) {
        p[bytes - 1] = 7;
        _exit(0);
    }
    wait(NULL);
    printf("%zu\n", bytes);
    return p[bytes - 1] != 7;
}
