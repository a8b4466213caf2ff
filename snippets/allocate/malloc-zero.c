/* A block from malloc. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- */
static void *block(size_t bytes)
{
    return malloc(bytes);
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
    free(p);
    return 0;
}
