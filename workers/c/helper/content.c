/* `pattern SEED BYTES` and `digest BYTES`: the protocol's content, for workers in languages whose own loops are slow. */
#include "core.h"
#include "verb.h"
#include <stdio.h>
#include <stdlib.h>

static char *room(size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        dprintf(2, "%zu bytes: %s\n", bytes, strerror(errno));
        exit(1);
    }
    return p;
}

static int pattern_main(int argc, char **argv)
{
    size_t bytes = strtoull(argv[1], NULL, 10);
    (void)argc;
    char *p = room(bytes + 1);
    pattern_fill(p, bytes, strtoull(argv[0], NULL, 10));
    for (ssize_t n; bytes; p += n, bytes -= (size_t)n)
        if ((n = write(1, p, bytes)) <= 0)
            return 1;
    return 0;
}

static int digest_main(int argc, char **argv)
{
    size_t bytes = strtoull(argv[0], NULL, 10), done = 0;
    (void)argc;
    char *p = room(bytes + 1);
    for (ssize_t n; done < bytes; done += (size_t)n)
        if ((n = read(0, p + done, bytes - done)) <= 0) {
            dprintf(2, "digest: %zu of %zu bytes came\n", done, bytes);
            return 1;
        }
    printf("%016llx\n", (unsigned long long)digest_of(p, bytes));
    return 0;
}

VERB("pattern", "SEED BYTES", pattern_main);
VERB("digest", "BYTES", digest_main);
