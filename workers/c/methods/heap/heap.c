/* The life of a heap: built, turned over, freed by another thread, emptied by nine tenths, emptied; then one vector
 * that grows. */
#include "heap.h"
#include "../allocate/allocate.h"
#include "objects.h"
#include <pthread.h>
#include <stdatomic.h>

enum { PART = 10 }; /* one object in ten is kept, and another one is handed over */

/* The thread that frees what the first one got. */
struct other_thread {
    struct heap *heap;
    atomic_int turn; /* 1: begin, 2: done */
    pthread_t thread;
};

static void *free_others_objects(void *argument)
{
    struct other_thread *other = argument;
    free(malloc(1)); /* its own part of the allocator is set up before the clock */
    while (atomic_load_explicit(&other->turn, memory_order_acquire) != 1)
        ;
    for (size_t i = 0; i < other->heap->count; i += PART)
        object_free(other->heap, i);
    atomic_store_explicit(&other->turn, 2, memory_order_release);
    return NULL;
}

static uint64_t before_bytes;

static void resident_fact(struct slot *s, const char *name)
{
    uint64_t now = allocate_anonymous_bytes(s);
    fact(s, name, now > before_bytes ? now - before_bytes : 0);
}

static void build_and_churn(struct slot *s, struct heap *h)
{
    size_t bytes = s->bytes, turns;
    struct heap rehearsal = *h; /* how many objects there will be is known before the clock, by the same draws */
    for (uint64_t sum = 0; sum < bytes; h->count++)
        sum += rehearsal.sizes[draw(&rehearsal, QUANTILES)];
    if (h->count > h->room)
        fail_because(s, "draw", "more objects than there is room for");
    s->ops = h->count;
    PHASE(s, "build") {
        for (size_t i = 0; i < h->count; i++)
            object_make(h, i);
    }
    objects_check(h);
    resident_fact(s, "build.rss_bytes");
    fact(s, "objects", h->count);
    fact(s, "live_bytes", h->live_bytes);
    s->ops = turns = h->count * key_size(s, "turnover");
    PHASE(s, "churn") {
        for (size_t i = 0; i < turns; i++) {
            size_t which = draw(h, h->count);
            object_free(h, which);
            object_make(h, which);
        }
    }
    objects_check(h);
    resident_fact(s, "churn.rss_bytes");
    fact(s, "churn.live_bytes", h->live_bytes);
}

/* A vector that grows by half whenever it is full, as most languages' vectors do, and is filled each time. */
static void grow(struct slot *s)
{
    size_t bytes = s->bytes, size = 64, wrong = 0, had = 0, steps = 0;
    char *p = NULL;
    for (size_t at = size; at < bytes; at += at / 2)
        steps++;
    s->ops = steps + 1;
    PHASE(s, "grow") {
        for (;; size += size / 2) {
            p = realloc(p, size);
            if (!p)
                abort();
            memset(p + had, (char)size, size - had);
            had = size;
            if (size >= bytes)
                break;
        }
    }
    fact(s, "grown_bytes", had);
    for (size_t at = 64, from = 0; from < had; from = at, at += at / 2)
        for (size_t i = from; i < at; i++)
            wrong += p[i] != (char)at;
    fact(s, "wrong_grown", wrong);
    free(p);
    resident_fact(s, "grow.rss_bytes");
}

static void hand_over(struct slot *s, struct heap *h)
{
    struct other_thread other = {.heap = h};
    if ((errno = pthread_create(&other.thread, NULL, free_others_objects, &other)) != 0)
        fail(s, "pthread_create");
    usleep(1000); /* it waits at its start line */
    uint64_t freed = h->freed;
    s->ops = (h->count + PART - 1) / PART;
    PHASE(s, "hand-over") {
        atomic_store_explicit(&other.turn, 1, memory_order_release);
        while (atomic_load_explicit(&other.turn, memory_order_acquire) != 2)
            ;
        for (size_t i = 0; i < h->count; i += PART)
            object_make(h, i);
    }
    pthread_join(other.thread, NULL);
    objects_check(h);
    fact(s, "handed_objects", h->freed - freed);
}

static void empty(struct slot *s, struct heap *h)
{
    size_t kept = (h->count + PART - 1) / PART;
    s->ops = h->count - kept;
    PHASE(s, "free-most") {
        for (size_t i = 0; i < h->count; i++)
            if (i % PART != 0)
                object_free(h, i);
    }
    objects_check(h);
    resident_fact(s, "free-most.rss_bytes");
    fact(s, "kept_bytes", h->live_bytes);
    s->ops = kept;
    PHASE(s, "free-rest") {
        for (size_t i = 0; i < h->count; i += PART)
            object_free(h, i);
    }
    resident_fact(s, "free-rest.rss_bytes");
}

void heap_run(struct slot *s, const char *library, const char *package)
{
    static struct heap heap;
    allocate_malloc(s, library, package);
    heap = (struct heap){0};
    objects_open(s, &heap);
    fact(s, "footprint_bytes", s->bytes);
    before_bytes = allocate_anonymous_bytes(s);
    fact(s, "huge_before_bytes", allocate_huge_bytes(s));
    build_and_churn(s, &heap);
    hand_over(s, &heap);
    empty(s, &heap);
    grow(s);
    fact(s, "freed_objects", heap.freed);
    fact(s, "wrong_objects", heap.wrong);
    objects_close(&heap);
}
