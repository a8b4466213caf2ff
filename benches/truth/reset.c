/* Lives of a region that begins as zeros, written from the question alone; see README.md. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define ROUNDS 41
#define CYCLES 11
struct arg { uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, inverted, mask, anyof, ret; };
struct span { uint64_t start, end, what; };
#define PAGEMAP_SCAN_NR _IOWR('f', 16, struct arg)

static size_t bytes, pages, dirty;
static int pagemap;
static struct span spans[1 << 16];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

struct way { const char *name; char *p; int fd, uffd; double ns[ROUNDS]; };

static void set_up(struct way *w)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    w->fd = -1;
    if (!strcmp(w->name, "cow")) {
        static char zero[PAGE];
        flags = MAP_PRIVATE;
        w->fd = memfd_create("image", 0);
        for (size_t i = 0; i < pages; i++)
            if (write(w->fd, zero, PAGE) != PAGE)
                die("write");
    }
    w->p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, w->fd, 0);
    if (w->p == MAP_FAILED)
        die("mmap");
    madvise(w->p, bytes, MADV_NOHUGEPAGE);
    if (!strcmp(w->name, "wp")) {
        struct uffdio_api api = {.api = UFFD_API, .features = 1 << 15};
        struct uffdio_register reg = {{(uintptr_t)w->p, bytes}, UFFDIO_REGISTER_MODE_WP, 0};
        struct uffdio_writeprotect wp = {{(uintptr_t)w->p, bytes}, UFFDIO_WRITEPROTECT_MODE_WP};
        w->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | 1);
        if (ioctl(w->uffd, UFFDIO_API, &api) || ioctl(w->uffd, UFFDIO_REGISTER, &reg) ||
            ioctl(w->uffd, UFFDIO_WRITEPROTECT, &wp))
            die("userfaultfd");
    }
}

static void scan(struct way *w, int wp)
{
    struct arg a = {.size = sizeof a, .start = (uintptr_t)w->p, .end = (uintptr_t)w->p + bytes, .vec = (uintptr_t)spans,
                    .vec_len = 1 << 16, .flags = wp ? 2 : 0, .inverted = wp ? 0 : 4 | 32, .mask = wp ? 2 : 2 | 4 | 8 | 32};
    int n = ioctl(pagemap, PAGEMAP_SCAN_NR, &a);
    if (n < 0)
        die("PAGEMAP_SCAN");
    for (int i = 0; i < n; i++)
        memset((void *)(uintptr_t)spans[i].start, 0, spans[i].end - spans[i].start);
    struct arg b = {.size = sizeof b, .start = a.start, .end = a.end, .flags = 3, .mask = 2};
    if (wp && ioctl(pagemap, PAGEMAP_SCAN_NR, &b) < 0)
        die("PAGEMAP_SCAN protect");
}

static void reset(struct way *w)
{
    if (!strcmp(w->name, "memset"))
        memset(w->p, 0, bytes);
    else if (!strcmp(w->name, "known"))
        for (size_t i = 0; i < dirty; i++)
            memset(w->p + i * pages / dirty * PAGE, 0, PAGE);
    else if (!strcmp(w->name, "remap")) {
        munmap(w->p, bytes);
        if (mmap(w->p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != w->p)
            die("mmap");
    } else if (!strcmp(w->name, "over")) {
        if (mmap(w->p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != w->p)
            die("mmap");
    } else if (!strcmp(w->name, "scan"))
        scan(w, 0);
    else if (!strcmp(w->name, "wp"))
        scan(w, 1);
    else
        madvise(w->p, bytes, MADV_DONTNEED);
}

static double cycle(struct way *w)
{
    double start = now();
    for (size_t i = 0; i < dirty; i++)
        *(volatile long *)(w->p + i * pages / dirty * PAGE) = 5;
    reset(w);
    return now() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static struct way ways[16];
    int count = argc - 3;
    if (argc < 4 || count > 16)
        return 2;
    bytes = strtoul(argv[1], NULL, 10);
    pages = bytes / PAGE;
    dirty = pages * strtoul(argv[2], NULL, 10) / 100;
    dirty += !dirty;
    pagemap = open("/proc/self/pagemap", O_RDONLY);
    for (int i = 0; i < count; i++)
        ways[i].name = argv[3 + i];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) {
            if (round > 0) { /* on frames of its own: which these are decides what of it stays in the caches */
                munmap(ways[i].p, bytes);
                close(ways[i].fd);
                if (ways[i].uffd > 0)
                    close(ways[i].uffd);
            }
            set_up(&ways[i]);
            for (int warm = 0; warm < 6; warm++)
                cycle(&ways[i]);
            /* A discarded page of a file costs less every fifth cycle or so: the kernel frees in batches. */
            for (int k = 0; k < CYCLES; k++)
                ways[i].ns[round] += cycle(&ways[i]) / CYCLES;
        }
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < bytes; k++)
            if (ways[i].p[k])
                return printf("%s: not zero\n", ways[i].name), 1;
        qsort(ways[i].ns, ROUNDS, sizeof(double), by_value);
        printf("%s %.0f\n", ways[i].name, ways[i].ns[ROUNDS / 2]);
    }
}
