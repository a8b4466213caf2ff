/* See published.h. */
#include "published.h"
#include "loops.h"
#include "writeback.h"
#include <stdio.h>
#include <stdlib.h>

/* Every byte that rand() names must be 0x55 and every other zero. Records how many pages it names: a first store into each is a
 * fault, and all other faults of the loop are stores into pages that were protected again after their write-back. */
static uint64_t check(struct slot *s, const unsigned char *p)
{
    size_t bytes = s->bytes, page = s->page_bytes;
    uint64_t wrong = 0, touched = 0, ops = key_size(s, "ops");
    unsigned char *stored = mmap(NULL, bytes / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, stored);
    srand((unsigned)s->seed);
    for (uint64_t i = 0; i < ops; i++) {
        size_t at = (uint32_t)rand() % (uint32_t)bytes;
        stored[at / 8] |= (unsigned char)(1 << at % 8);
    }
    for (size_t start = 0; start < bytes; start += page) {
        bool hit = false;
        for (size_t at = start; at < start + page; at++) {
            bool here = stored[at / 8] >> at % 8 & 1;
            wrong += p[at] != (here ? 0x55 : 0);
            hit |= here;
        }
        touched += hit;
    }
    munmap(stored, bytes / 8);
    fact(s, "wrong_bytes", wrong);
    fact(s, "touched_pages", touched);
    fact_digest(s, p, bytes);
    return touched;
}

void published_write(struct slot *s, char *p, int fd)
{
    size_t bytes = s->bytes;
    uint64_t ops = key_size(s, "ops"), dirtied = 0;
    srand((unsigned)s->seed);
    s->ops = s->phase_bytes = ops;
    if (fd >= 0)
        writeback_start(s, fd);
    PHASE(s, "random-write") { write_by_rand(p, bytes, ops); }
    if (fd >= 0)
        dirtied = writeback_stop(s, fd);
    load_stop(s);
    uint64_t first = s->proofs ? check(s, (unsigned char *)p) * s->page_bytes : 0;
    if (fd >= 0) /* beyond the first time, a page is made dirty after it was written back */
        fact(s, "redirtied_bytes", dirtied > first ? dirtied - first : 0);
    s->ops = 1;
    s->phase_bytes = bytes;
}
