#include "touch.h"

void map_touch_unmap(char *at, size_t page, uint64_t pieces)
{
    for (uint64_t i = 0; i < pieces; i++) {
        volatile char *p = mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        *p = 1;
        munmap((char *)p, page);
    }
}
