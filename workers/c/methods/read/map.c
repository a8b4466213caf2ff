/* See map.h. Never timed. */
#include "map.h"

char *map_begin(struct slot *s, struct input *in)
{
    read_begin(s, in, WHOLE, 0);
    return free_range(s, in->bytes);
}

void map_check(struct slot *s, const struct input *in, int descriptor, const void *mapped, int advised)
{
    /* The calls stand in one phase without a test between them, so errno is the last one's: the first that failed is made
     * again before it is named. */
    if (descriptor < 0) {
        (void)!open(in->path, O_RDONLY | O_CLOEXEC);
        fail(s, "open");
    }
    if (mapped == MAP_FAILED) {
        (void)!mmap(NULL, in->bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
        fail(s, "mmap");
    }
    if (advised != 0)
        fail(s, "madvise");
}

void map_proofs(struct slot *s, struct input *in, const void *mapped)
{
    size_t page = s->page_bytes;
    check_pass(s, in, "mmap");
    fact(s, "mapped_bytes", resident_in(s, mapped, (in->bytes + page - 1) / page * page).rss_bytes);
}
