/* See threads.h. */
#include "threads.h"
#include "../allocate/allocate.h"
#include "objects.h"

enum { MOST_THREADS = 64 };

static struct heap heaps[MOST_THREADS];
static size_t turnover;

/* The part's start is the number of the heap. */
static struct heap *heap_of(const struct part *part)
{
    return &heaps[(uintptr_t)part->start / part->page_bytes];
}

static void build(const struct part *part)
{
    struct heap *h = heap_of(part);
    for (size_t i = 0; i < h->count; i++)
        object_make(h, i);
}

static void churn(const struct part *part)
{
    struct heap *h = heap_of(part);
    for (size_t i = 0; i < h->count * turnover; i++) {
        size_t which = draw(h, h->count);
        object_free(h, which);
        object_make(h, which);
    }
}

static void free_all(const struct part *part)
{
    struct heap *h = heap_of(part);
    for (size_t i = 0; i < h->count; i++)
        object_free(h, i);
}

/* How many objects each thread will have is known before the clock, by the same draws. */
static size_t open_heaps(struct slot *s)
{
    size_t share = s->bytes / s->threads, objects = 0;
    struct slot part = *s;
    part.bytes = share;
    for (unsigned t = 0; t < s->threads; t++) {
        struct heap *h = &heaps[t];
        *h = (struct heap){0};
        part.seed = s->seed + t;
        objects_open(&part, h);
        uint64_t first = h->x, sum = 0;
        while (sum < share && h->count < h->room) {
            sum += h->sizes[draw(h, QUANTILES)];
            h->count++;
        }
        h->x = first;
        objects += h->count;
    }
    return objects;
}

/* Bytes alive in all of them; what was written wrong is counted in each. */
static uint64_t check_heaps(struct slot *s)
{
    uint64_t live = 0;
    for (unsigned t = 0; t < s->threads; t++) {
        objects_check(&heaps[t]);
        live += heaps[t].live_bytes;
    }
    return live;
}

void heap_threads_run(struct slot *s, const char *library, const char *package)
{
    if (s->threads > MOST_THREADS)
        skip(s, "more than 64 threads are not supported here");
    allocate_malloc(s, library, package);
    turnover = key_size(s, "turnover");
    size_t objects = open_heaps(s), all = s->threads * s->page_bytes;
    uint64_t wrong = 0, freed = 0;
    s->ops = objects;
    PARALLEL_PHASE(s, "build") { on_every_thread(s, build, NULL, all, 0); }
    uint64_t live = check_heaps(s);
    fact(s, "build.rss_bytes", allocate_anonymous_bytes(s));
    s->ops = objects * turnover;
    PARALLEL_PHASE(s, "churn") { on_every_thread(s, churn, NULL, all, 0); }
    check_heaps(s);
    fact(s, "churn.rss_bytes", allocate_anonymous_bytes(s));
    s->ops = objects;
    PARALLEL_PHASE(s, "free-rest") { on_every_thread(s, free_all, NULL, all, 0); }
    for (unsigned t = 0; t < s->threads; t++) {
        freed += heaps[t].freed;
        wrong += heaps[t].wrong;
        objects_close(&heaps[t]);
    }
    fact(s, "objects", objects);
    fact(s, "live_bytes", live);
    fact(s, "wrong_objects", wrong);
    fact(s, "freed_objects", freed);
}
