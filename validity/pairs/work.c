/* work KIND TIMES: work of one kind, so many thousandths of what takes about a tenth of a second. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t state = 88172645463325252u;
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static long spin(long times)
{
    for (long i = 0; i < times * 40000; i++)
        next();
    return (long)state;
}

static long small_blocks(long times)
{
    static char *kept[512];
    for (long i = 0; i < times * 6000; i++) {
        char **at = &kept[next() % 512];
        free(*at);
        *at = malloc(16 + next() % 500);
        **at = 1;
    }
    return kept[0] != NULL;
}

static long touch(long times)
{
    size_t bytes = (size_t)times * 60 * 4096;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    return p[bytes / 2];
}

static long copies(long times)
{
    size_t bytes = 2 << 20;
    char *a = malloc(bytes), *b = malloc(bytes);
    memset(a, 1, bytes);
    for (long i = 0; i < times / 2; i++)
        memcpy(i % 2 ? a : b, i % 2 ? b : a, bytes);
    return b[bytes / 2];
}

static long table(long times)
{
    size_t mask = (1 << 20) - 1;
    uint64_t *t = calloc(mask + 1, sizeof *t);
    for (long i = 0; i < times * 30000; i++)
        t[next() & mask] += (uint64_t)i;
    return (long)t[7];
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static long sort(long times)
{
    static uint64_t values[1000];
    for (long i = 0; i < times * 2; i++) {
        for (int k = 0; k < 1000; k++)
            values[k] = next();
        qsort(values, 1000, sizeof *values, by_value);
    }
    return (long)values[0];
}

static long reads(long times)
{
    static char buffer[4096];
    int file = open("/proc/self/exe", O_RDONLY);
    long sum = 0;
    for (long i = 0; i < times * 800; i++)
        sum += pread(file, buffer, sizeof buffer, (i % 2) * 4096);
    return sum;
}

static long lines(long times)
{
    static char line[200];
    long sum = 0;
    for (long i = 0; i < times * 300; i++)
        sum += snprintf(line, sizeof line, "%ld: %g %s", i, i / 7.0, "a word");
    return sum;
}

static long maps(long times)
{
    long sum = 0;
    for (long i = 0; i < times * 25; i++) {
        char *p = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        sum += *p = 1;
        munmap(p, 8 * 4096);
    }
    return sum;
}

static long list(long times)
{
    struct node { struct node *next; long value; } *first = NULL;
    long sum = 0;
    for (long i = 0; i < 200000; i++) {
        struct node *n = malloc(sizeof *n);
        *n = (struct node){first, i};
        first = n;
    }
    for (long k = 0; k < times / 4; k++)
        for (struct node *n = first; n; n = n->next)
            sum += n->value ^ k;
    return sum;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; long (*run)(long); } kinds[] = {
        {"spin", spin}, {"small-blocks", small_blocks}, {"touch", touch}, {"copies", copies}, {"table", table},
        {"sort", sort}, {"reads", reads}, {"lines", lines}, {"maps", maps}, {"list", list},
    };
    for (size_t i = 0; argc > 2 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            return printf("%d\n", kinds[i].run(atol(argv[2])) != 0) < 0;
    return 1;
}
