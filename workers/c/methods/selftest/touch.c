#include "touch.h"

void touch_and_give_back(char *p, size_t page, uint64_t pieces)
{
    for (uint64_t i = 0; i < pieces; i++) {
        *(volatile char *)p = 1;
        madvise(p, page, MADV_DONTNEED);
    }
}

char *page_to_touch(struct slot *s)
{
    char *p = mmap(free_range(s, s->page_bytes), s->page_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    touch_and_give_back(p, s->page_bytes, 1);
    return p;
}
