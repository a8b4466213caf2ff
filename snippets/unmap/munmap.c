/* Pages and addresses are given back. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- */
static int give_back(void *region, size_t bytes)
{
    return munmap(region, bytes);
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    memset(p, 7, bytes);
    if (give_back(p, bytes) != 0)
        return 1;
    unsigned char seen;
    if (mincore(p, 1, &seen) == 0) /* nothing is mapped there any more */
        return 1;
    printf("%zu\n", bytes);
    return 0;
}
