/* A heap's objects: how large they are, and what is written into them. */
#ifndef PAGEWISE_HEAP_OBJECTS_H
#define PAGEWISE_HEAP_OBJECTS_H
#include "worker.h"
#include <stdlib.h>

enum { SMALLEST = 4, LARGEST = 32768, QUANTILES = 4096 };

struct object {
    char *p;
    uint32_t size;
};

struct heap {
    struct object *objects;
    size_t count, room;
    uint64_t live_bytes, freed, wrong;
    uint64_t x;                 /* state of the index sequence: every allocator's objects are the same */
    uint32_t sizes[QUANTILES];  /* drawn from uniformly */
};

/* The distribution of glibc's own bench-malloc: inverse square from 4 to 32768 bytes, half of all objects below 8 bytes, one in
 * a thousand above 4 KiB, which together are a quarter of all bytes. */
void objects_open(struct slot *s, struct heap *h);
void objects_check(struct heap *h);  /* counts in `wrong` what does not hold what was written into it */
void objects_close(struct heap *h);

/* Below `below`: the protocol's index sequence. */
static inline size_t draw(struct heap *h, size_t below)
{
    uint64_t x = h->x;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    h->x = x;
    return (size_t)(((x * 0x2545F4914F6CDD1Du) >> 32) * below >> 32);
}

static inline char tag_of(size_t index)
{
    return (char)(index * 7 + 1);
}

/* An object is got and written to, all of it: what nobody writes to costs no memory. */
static inline void object_make(struct heap *h, size_t index)
{
    struct object *o = &h->objects[index];
    uint32_t size = h->sizes[draw(h, QUANTILES)];
    o->p = malloc(size);
    if (!o->p)
        abort();
    o->size = size;
    memset(o->p, tag_of(index), size);
}

static inline void object_free(struct heap *h, size_t index)
{
    free(h->objects[index].p);
    h->objects[index].p = NULL;
    h->freed++;
}
#endif
