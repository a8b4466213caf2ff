/* The whole region is zeroed in place. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- */
static int reset(void *region, size_t bytes)
{
    memset(region, 0, bytes);
    return 0;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    for (int life = 0; life < 3; life++) {
        for (size_t i = life; i < bytes; i += 10007)
            p[i] = 7;
        if (reset(p, bytes) != 0)
            return 1;
        for (size_t i = 0; i < bytes; i++)
            if (p[i] != 0)
                return 1;
    }
    printf("%zu\n", bytes);
    return 0;
}
