/* P4 as its article tells it, by Pagewise and without a line of the article's program: malloc and zero, then free, then an
 * anonymous mapping that is filled with ones, once each and in this order.
 * Build: cc -O0 -Wall -Wextra -o p4 p4.c
 * Run:   for run in 1 2 3 4 5; do ./p4 104857600; done
 * It prints the seconds of both. A changed copy is compared by: pagewise bench --published P4 mine.c */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 100u << 20;
    double start = now();
    char *p = malloc(bytes);
    if (!p)
        return 1;
    memset(p, 0, bytes);
    double by_malloc = now() - start;
    free(p);
    start = now();
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    memset(p, 1, bytes);
    printf("malloc %f mmap %f\n", by_malloc, now() - start);
    return 0;
}
