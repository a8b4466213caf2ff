/* The snapshot is mapped; each page comes when it is touched. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
static void *restored(int snapshot, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, snapshot, 0);
    return p == MAP_FAILED ? NULL : p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    char path[] = "snapshot-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (pwrite(file, &at, sizeof at, (off_t)at) != sizeof at)
            return 1;
    char *p = restored(file, bytes);
    if (p == NULL)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (*(size_t *)(p + at) != at)
            return 1;
    *p = 7; /* the clone's own */
    printf("%zu\n", bytes);
    return 0;
}
