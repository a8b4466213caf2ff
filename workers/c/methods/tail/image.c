/* See image.h. Never timed. */
#include "image.h"

struct tail_image tail_image(struct slot *s, size_t bytes, bool of_file)
{
    struct tail_image m = {.fd = memfd_create("tail", memfd_flags() | MFD_CLOEXEC), .bytes = bytes};
    const char *obstacle = memfd_obstacle(m.fd);
    if (obstacle)
        skip(s, obstacle);
    if (m.fd < 0 || ftruncate(m.fd, (off_t)bytes) != 0)
        fail(s, "memfd_create");
    char *image = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
    check_map(s, image);
    pattern_fill(image, bytes, s->seed);
    munmap(image, bytes);
    m.p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | (of_file ? 0 : MAP_ANONYMOUS), of_file ? m.fd : -1, 0);
    check_map(s, m.p);
    check_done(s, madvise(m.p, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL, "madvise");
    return m;
}

void tail_image_end(struct slot *s, struct tail_image *m, size_t bytes)
{
    fact(s, "right_bytes", pattern_first_wrong(m->p, bytes, s->seed));
    fact(s, "image_bytes", bytes);
    check_done(s, munmap(m->p, m->bytes) | close(m->fd), "munmap");
}
