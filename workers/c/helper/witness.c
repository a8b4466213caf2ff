/* `witness PATH BYTES`: a second process for workers that have no side of their own. It maps the file, says which
 * number it finds where side a of `share` leaves its own, and leaves another for it. */
#include "core.h"
#include "verb.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static int witness_main(int argc, char **argv)
{
    const char *path = argv[0];
    size_t bytes = strtoull(argv[1], NULL, 10), page = (size_t)sysconf(_SC_PAGESIZE);
    (void)argc;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char *p = fd < 0 || bytes < page ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) {
        dprintf(2, "witness: %s: %s\n", path, strerror(errno));
        return 1;
    }
    uint64_t *number = (uint64_t *)(p + bytes - page + 16), mine = pattern_word(*number, (uint64_t)getpid()) >> 33 | 1;
    printf("%llu %llu\n", (unsigned long long)number[0], (unsigned long long)mine);
    number[1] = mine;
    return 0;
}

VERB("witness", "PATH BYTES", witness_main);
