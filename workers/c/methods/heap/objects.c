/* Sizes and proofs of a heap's objects. Nothing here is timed, and nothing here calls malloc. */
#include "objects.h"

static size_t room_bytes(const struct heap *h)
{
    return h->room * sizeof(struct object);
}

void objects_open(struct slot *s, struct heap *h)
{
    const uint64_t a = SMALLEST, b = LARGEST, n = QUANTILES;
    for (uint64_t u = 0; u < n; u++) /* the inverse of the distribution function, in whole numbers */
        h->sizes[u] = (uint32_t)(a * b * 2 * n / (b * 2 * n - (2 * u + 1) * (b - a)));
    h->x = s->seed | 1;
    h->room = s->bytes / 16 + 1024; /* the mean size is twice as much */
    h->objects = mmap(NULL, room_bytes(h), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, h->objects);
}

void objects_check(struct heap *h)
{
    h->live_bytes = 0;
    for (size_t i = 0; i < h->count; i++) {
        const struct object *o = &h->objects[i];
        h->live_bytes += o->p ? o->size : 0;
        for (uint32_t at = 0; o->p && at < o->size; at++)
            if (o->p[at] != tag_of(i)) {
                h->wrong++;
                break;
            }
    }
}

void objects_close(struct heap *h)
{
    munmap(h->objects, room_bytes(h));
}
