/* The file is mapped; each page is found when it is used. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
static const char *loaded(const char *path, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    const char *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return p == MAP_FAILED ? NULL : p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    char path[] = "loaded-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (pwrite(file, &at, sizeof at, (off_t)at) != sizeof at)
            return 1;
    close(file);
    const char *p = loaded(path, bytes);
    unlink(path);
    if (p == NULL)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (*(const size_t *)(p + at) != at)
            return 1;
    printf("%zu\n", bytes);
    return 0;
}
