#include "touch.h"

void touch_each_page(volatile char *p, size_t bytes, size_t page)
{
    for (size_t i = 0; i < bytes; i += page)
        p[i] = 1;
}

char *fresh_pages(struct slot *s, size_t bytes)
{
    char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}
