/* A block from the allocator in huge pages. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- */
static void *block(size_t bytes)
{
    size_t huge = 2 << 20; /* /sys/kernel/mm/transparent_hugepage/hpage_pmd_size */
    void *p;
    if (posix_memalign(&p, huge, bytes) != 0)
        return NULL;
    madvise(p, bytes / huge * huge, MADV_HUGEPAGE); /* where it is refused, the pages are small ones */
    return p;
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
