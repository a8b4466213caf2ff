/* Fresh memory in huge pages, which come when they are touched. The size is a multiple of a page. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* --- */
static void *fresh(size_t bytes)
{
    size_t huge = 2 << 20; /* /sys/kernel/mm/transparent_hugepage/hpage_pmd_size */
    char *all = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    /* Only whole, aligned stretches can become huge pages: what lies around them is given back. */
    char *p = (char *)(((uintptr_t)all + huge - 1) / huge * huge);
    if (p > all)
        munmap(all, p - all);
    munmap(p + bytes, all + huge - p);
    madvise(p, bytes, MADV_HUGEPAGE); /* where it is refused, the pages are small ones */
    return p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *p = bytes == 0 ? NULL : fresh(bytes);
    if (p == NULL)
        return 1;
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    printf("%zu\n", bytes);
    return munmap(p, bytes);
}
