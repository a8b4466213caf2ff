#include "copy.h"
#include "streaming.h"

/* The best of several candidates, each by one thread and by all of them; which one is found out before the clock, once for each
 * cell of a launch, and named by the fact `best_candidate`. */
static void by_memcpy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void by_string(char *to, const char *from, size_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    memcpy(to, from, bytes);
#endif
}

typedef void copy_bytes(char *to, const char *from, size_t bytes);
static copy_bytes *const candidates[] = {by_memcpy, stream_copy, by_string};
static const char *const names[] = {"memcpy", "streaming stores", "rep movsb"};
enum { CANDIDATES = 3, TRIES = 2 };
static struct copy c;
static copy_bytes *chosen;

static void copy_part(const struct part *part)
{
    char *from = c.from + (part->start - c.to), *to = part->start;
    size_t bytes = part->bytes, stride = c.stride;
    uint64_t batch = c.batch;
    if (!bytes)
        return;
    EACH_COPY(chosen(to + i * stride, from, bytes))
    if (wrong)
        c.wrong = 1;
}

static void alone(struct slot *s)
{
    struct part whole = {c.to, s->bytes, s->page_bytes, 0};
    copy_part(&whole);
}

/* Tries all on the destination itself, which is resident. Returns the best one's number; from CANDIDATES on, by all threads. */
static int find_best(struct slot *s)
{
    uint64_t best_ns = UINT64_MAX;
    int best = 0;
    for (int i = 0; i < TRIES * 2 * CANDIDATES; i++) {
        int candidate = i % (2 * CANDIDATES);
        bool all = candidate >= CANDIDATES;
        if (all && (!s->pool || s->bytes < s->threads * s->page_bytes))
            continue;
        chosen = candidates[candidate % CANDIDATES];
        if (all)
            pool_wake(s);
        uint64_t start = now_ns(), spent;
        if (all)
            on_every_thread(s, copy_part, c.to, s->bytes, 0);
        else
            alone(s);
        spent = now_ns() - start;
        best = spent < best_ns ? candidate : best;
        best_ns = spent < best_ns ? spent : best_ns;
    }
    return best;
}

static void run(struct slot *s)
{
    static const struct cell *known;
    static int best;
    c = copy_begin(s);
    if (known != s->cell && !c.stride)
        best = find_best(s);
    else if (known != s->cell)
        best = s->pool ? CANDIDATES : 0; /* pages that are not there yet can be tried only once: memcpy by all threads */
    if (known != s->cell)
        copy_caches(s, &c); /* the tries have brought the blocks */
    known = s->cell;
    chosen = candidates[best % CANDIDATES];
    if (c.warm_up && best >= CANDIDATES) {
        pool_wake(s);
        on_every_thread(s, copy_part, c.to, s->bytes, 0);
    } else if (c.warm_up)
        alone(s);
    fact_word(s, "best_candidate", names[best % CANDIDATES]);
    fact(s, "best_threads", best >= CANDIDATES ? s->threads : 1);
    if (best >= CANDIDATES)
        PARALLEL_PHASE(s, "copy") { on_every_thread(s, copy_part, c.to, s->bytes, 0); }
    else
        PHASE(s, "copy") { alone(s); }
    copy_end(s, &c);
}

METHOD(copy_limit, .experiment = "copy", .name = "limit", .role = "limit",
       .summary = "The best copy found here: memcpy, streaming stores or rep movsb, by one thread or by all (the facts best_candidate and best_threads tell).",
       .phases = "copy", .keys = COPY_KEYS " threads:count", .memory = COPY_MEMORY, .laws = COPY_LAWS, .calls = "",
       .run = run);
