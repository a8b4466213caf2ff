/* A memory file without a name, of `memfd` in C and in Rust and of `memfd-huge`: side a makes, uses and ends it, side b
 * attaches it. */
#ifndef PAGEWISE_SHARE_MEMFD_H
#define PAGEWISE_SHARE_MEMFD_H
#include "methods/share/share.h"

/* `huge`: MADV_HUGEPAGE permits transparent huge pages. */
static inline void memfd_share(struct slot *s, const char *obstacle, bool huge)
{
    share_begin(s, obstacle);
    size_t bytes = s->bytes;
    unsigned flags = memfd_flags();
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = memfd_create("pagewise-share", flags);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (huge && p != MAP_FAILED)
            madvise(p, bytes, MADV_HUGEPAGE);
    }
    share_mapped(s, memfd_obstacle(fd));
    if (fd < 0)
        fail(s, "memfd_create");
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    tell_descriptor(fd);
    share_proof(s, p, "/memfd:pagewise-share");
    share_use(s, p, NULL);
    int left;
    PHASE(s, "unmap") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
}

static inline void seat_map_huge(struct seat *b)
{
    seat_map(b);
    if (b->p != MAP_FAILED)
        madvise(b->p, b->bytes, MADV_HUGEPAGE);
}

static SHARED_BODY void memfd_attach(struct slot *s, const char *obstacle, bool huge)
{
    struct seat b = share_begin_b(s, obstacle);
    b.at = huge ? free_range(s, s->bytes) : NULL; /* whole huge pages begin where one may lie */
    b.descriptor = hear_descriptor(s);
    meet(s);
    share_second(s, &b, huge ? seat_map_huge : seat_map, seat_unmap);
    close(b.descriptor);
}

static inline void memfd_run(struct slot *s)
{
    memfd_share(s, NULL, false);
}

static inline void memfd_run_b(struct slot *s)
{
    memfd_attach(s, NULL, false);
}
#endif
