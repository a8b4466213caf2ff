/* See lines.h. Never timed. */
#include "lines.h"
#include <sched.h>

struct lines lines_begin(struct slot *s, size_t apart)
{
    struct lines l = {0};
    int fd = s->role == 'a' ? memfd_create("pagewise-lines", memfd_flags()) : -1;
    agree(s, s->role == 'a' ? memfd_obstacle(fd) : NULL);
    if (s->role == 'b')
        fd = hear_descriptor(s);
    else if (fd < 0 || ftruncate(fd, (off_t)s->page_bytes) != 0)
        fail(s, "memfd_create, ftruncate");
    else
        tell_descriptor(fd);
    l.page = mmap(NULL, s->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    check_map(s, l.page);
    close(fd);
    uint64_t *first = (uint64_t *)l.page, *second = (uint64_t *)(l.page + apart);
    l.mine = s->role == 'a' ? first : second;
    l.other = s->role == 'a' ? second : first;
    *l.mine = 0;
    s->ops = key_size(s, "ops");
    s->phase_bytes = s->ops * sizeof(uint64_t);
    meet(s);
    /* A wake-up takes longer than a million plain additions: both leave a line in memory, which is no counter's. */
    unsigned *here = (unsigned *)(l.page + s->page_bytes / 2);
    __atomic_fetch_add(here, 1, __ATOMIC_ACQ_REL);
    for (unsigned tries = 1; __atomic_load_n(here, __ATOMIC_ACQUIRE) < 2; tries++)
        if (tries % 1000 == 0 && (sched_yield(), peer_gone()))
            fail_because(s, "meet", "the other side ended");
    l.other_before = *l.other;
    return l;
}

void lines_end(struct slot *s, struct lines *l)
{
    uint64_t moved = *l->other - l->other_before;
    bool b = s->role == 'b';
    meet(s);
    fact(s, b ? "b.count" : "count", *l->mine);
    fact(s, b ? "b.other_count" : "other_count", *l->other);
    fact(s, b ? "b.other_moved" : "other_moved", moved);
    if (!b)
        fact(s, "foreign_moved", moved);
    munmap(l->page, s->page_bytes);
}
