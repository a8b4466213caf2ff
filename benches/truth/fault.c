/* Memory until each page of it was touched; written from the question alone, see README.md. */
#include "truth.h"

static size_t bytes;
static int cold;
static char *others;
#define OTHERS (512ul << 20) /* more than the last cache of a large processor */

static void touch(volatile char *p)
{
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
}

/* Page frames that were in use just before, so that a host has them there: touched and given back. */
static void use_frames(int huge)
{
    char *p = anonymous(bytes, huge);
    touch(p);
    munmap(p, bytes);
    if (cold)
        memset(others, cold++, OTHERS);
}

static double once(const char *way)
{
    int huge = !strncmp(way, "thp", 3), populate = strstr(way, "populate") != NULL;
    use_frames(huge);
    char *place = anonymous(bytes, huge);
    munmap(place, bytes);
    double start = now();
    /* MAP_POPULATE comes before any advice; huge pages are populated by madvise. */
    char *p = mmap(place, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | (populate && !huge ? MAP_POPULATE : 0), -1, 0);
    if (p != place)
        die("mmap");
    if (madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
        die("madvise");
    if (populate && huge && madvise(p, bytes, MADV_POPULATE_WRITE))
        die("MADV_POPULATE_WRITE");
    touch(p);
    double spent = now() - start;
    munmap(p, bytes);
    return spent / (bytes / 4096);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: fault BYTES cached|memory touch|populate|thp|thp-populate…\n"), 2;
    bytes = strtoul(argv[1], NULL, 10);
    cold = is(argv[2], "memory");
    others = anonymous(OTHERS, 0);
    take_turns(argv + 3, argc - 3, 31, once);
}
