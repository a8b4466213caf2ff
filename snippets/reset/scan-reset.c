/* Pages that are there are asked for and zeroed in place (Linux 6.7). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, page_limit, inverted, all_of, any_of, returned;
};
struct found {
    uint64_t start, end, categories;
};
enum { WRITTEN = 2, FILE_PAGE = 4, PRESENT = 8, ZERO_PAGE = 32 };

static int reset(int pagemap, void *region, size_t bytes)
{
    static struct found found[4096];
    uint64_t at = (uintptr_t)region, end = at + bytes;
    while (at < end) {
        struct scan scan = {.size = sizeof scan, .start = at, .end = end, .regions = (uintptr_t)found, .region_count = 4096,
                            .inverted = FILE_PAGE | ZERO_PAGE, .all_of = WRITTEN | PRESENT | FILE_PAGE | ZERO_PAGE};
        int count = ioctl(pagemap, _IOWR('f', 16, struct scan), &scan);
        if (count < 0)
            return -1;
        at = scan.walk_end;
        for (int i = 0; i < count; i++)
            memset((void *)(uintptr_t)found[i].start, 0, found[i].end - found[i].start);
        if (count > 0 && found[count - 1].end > at) /* Linux 6.18 may say less than it has found */
            at = found[count - 1].end;
    }
    return 0;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    for (int life = 0; life < 3; life++) {
        for (size_t i = life; i < bytes; i += 10007)
            p[i] = 7;
        int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        if (pagemap < 0)
            return 1;
        if (reset(pagemap, p, bytes) != 0)
            return errno == ENOTTY ? 77 : 1;
        close(pagemap);
        for (size_t i = 0; i < bytes; i++)
            if (p[i] != 0)
                return 1;
    }
    printf("%zu\n", bytes);
    return 0;
}
