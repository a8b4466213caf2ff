/* Memory from the reserved pool of huge pages, populated by one call. The kernel never swaps these pages. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* --- */
static void *ready(size_t bytes) /* a multiple of a huge page; sudo sysctl vm.nr_hugepages=N reserves N of them */
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED)
        return NULL; /* ENOMEM: the pool has too few free pages */
    if (madvise(p, bytes, MADV_POPULATE_WRITE) != 0) { /* Linux 5.14 */
        munmap(p, bytes);
        return NULL;
    }
    return p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *p = bytes == 0 ? NULL : ready(bytes);
    if (p == NULL)
        return 77;
    unsigned char there;
    for (size_t i = 0; i < bytes; i += 4096)
        if (mincore(p + i, 1, &there) != 0 || !(there & 1))
            return 1;
    printf("%zu\n", bytes);
    return munmap(p, bytes);
}
