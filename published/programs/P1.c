/* P1 as its article tells it, by Pagewise and without a line of the article's program: random writes into a shared region, and
 * clearing all of it.
 * Build: cc -Wall -Wextra -o p1 p1.c              and once more with -O3
 * Run:   ./p1 mmap 65536 1000000000 10000000 FILE; ./p1 shm 65536 1000000000 10000000     (1073741824 1000000000 0 for 1 GiB)
 * It prints the seconds of the writes and of the clears. FILE is on a disk's file system: write-back is part of its figure.
 * The generator of the C library is called in the loop, as it is there. Java's half: pagewise show --published P1.java
 * A changed copy is compared by: pagewise bench --published P1 mine.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *region(int argc, char **argv, size_t bytes)
{
    if (strcmp(argv[1], "shm") == 0) {
        int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        char *p = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL);
        return p == (void *)-1 ? NULL : p;
    }
    int file = argc == 6 ? open(argv[5], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return NULL;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return p == MAP_FAILED ? NULL : p;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    size_t bytes = strtoull(argv[2], NULL, 10);
    unsigned long writes = strtoul(argv[3], NULL, 10), clears = strtoul(argv[4], NULL, 10);
    volatile char *p = region(argc, argv, bytes);
    if (!p) {
        perror("region");
        return 1;
    }
    double start = now();
    for (unsigned long i = 0; i < writes; i++)
        p[(size_t)rand() % bytes] = 0x55;
    double written = now();
    for (unsigned long i = 0; i < clears; i++) {
        memset((char *)p, 0, bytes);
        __asm__ volatile("" ::: "memory"); /* no instruction: -O3 may not merge two clears */
    }
    printf("%f %f\n", written - start, now() - written);
    return 0;
}
