/* A mapped file of a disk. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
static void *shared(size_t bytes)
{
    const char *path = "./shared";
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return NULL;
    unlink(path); /* once everybody has opened it */
    int failed = ftruncate(file, bytes);
    void *p = failed ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return p == MAP_FAILED ? NULL : p;
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
