/* Fresh memory that several threads populate, each its part. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* --- */
struct part {
    char *start;
    size_t bytes;
};

static void *populate(void *argument)
{
    struct part *part = argument;
    return madvise(part->start, part->bytes, MADV_POPULATE_WRITE) == 0 ? NULL : part; /* Linux 5.14 */
}

static void *ready(size_t bytes, unsigned threads)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t huge = 2 << 20, share = ((bytes + threads - 1) / threads + huge - 1) / huge * huge;
    pthread_t ids[64];
    struct part parts[64];
    void *failed, *any = NULL;
    unsigned count = 0;
    if (p == MAP_FAILED || threads > 64)
        return NULL;
    for (size_t at = 0; at < bytes; at += share, count++) {
        parts[count] = (struct part){p + at, bytes - at < share ? bytes - at : share};
        if (pthread_create(&ids[count], NULL, populate, &parts[count]) != 0)
            return NULL;
    }
    while (count-- > 0)
        if (pthread_join(ids[count], &failed) != 0 || failed)
            any = failed;
    return any ? NULL : p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *p = bytes == 0 ? NULL : ready(bytes, 2);
    if (p == NULL)
        return 1;
    unsigned char there;
    for (size_t i = 0; i < bytes; i += 4096)
        if (mincore(p + i, 1, &there) != 0 || !(there & 1))
            return 1;
    printf("%zu\n", bytes);
    return munmap(p, bytes);
}
