/* A mapping that is resident when the call returns. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- */
static void *block(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return p == MAP_FAILED ? NULL : p; /* given back by munmap(p, bytes) */
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *p = bytes == 0 ? NULL : block(bytes);
    if (p == NULL)
        return 1;
    memset(p, 0, bytes);
    printf("%zu\n", bytes);
    munmap(p, bytes);
    return 0;
}
