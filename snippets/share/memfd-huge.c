/* A memory file without a name, in huge pages. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
static void *shared(size_t bytes)
{
    int file = memfd_create("shared", MFD_CLOEXEC); /* its descriptor is passed on: SCM_RIGHTS, or pidfd_getfd */
    if (file < 0 || ftruncate(file, bytes) != 0)
        return NULL;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_HUGEPAGE); /* /sys/kernel/mm/transparent_hugepage/shmem_enabled says whether it helps */
    close(file);
    return p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    char *p = bytes == 0 ? NULL : shared(bytes);
    if (p == NULL)
        return 1;
    if (fork() == 0) {
        p[bytes - 1] = 7;
        _exit(0);
    }
    wait(NULL);
    printf("%zu\n", bytes);
    return p[bytes - 1] != 7;
}
