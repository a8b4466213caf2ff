/* The file's blocks are chosen at once, then it is mapped and filled. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
static int written(const char *path, const char *content, size_t bytes)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return -1;
    if (fallocate(file, 0, 0, (off_t)bytes) != 0)
        return -1;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED)
        return -1;
    memcpy(p, content, bytes); /* in any order */
    munmap(p, bytes);
    return close(file);
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    char *content = malloc(bytes), *back = malloc(bytes);
    if (content == NULL || back == NULL)
        return 1;
    for (size_t i = 0; i < bytes; i++)
        content[i] = (char)(i * 7 + i / 4096);
    if (written("large-output", content, bytes) != 0)
        return 1;
    int file = open("large-output", O_RDONLY);
    unlink("large-output");
    for (size_t at = 0; at < bytes;) {
        ssize_t got = read(file, back + at, bytes - at);
        if (got <= 0)
            return 1;
        at += (size_t)got;
    }
    if (memcmp(back, content, bytes) != 0)
        return 1;
    printf("%zu\n", bytes);
    return 0;
}
