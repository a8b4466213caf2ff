#include "copy.h"

#include <pthread.h>

/* Each thread copies its own part of the block: once a handshake, or as often as the sample asks in one (helpers=batch). */
static struct copy c;
static bool whole_batch, created;
static size_t shift; /* of a fresh destination from its first copy's */

static void copy_part(const struct part *part)
{
    char *from = c.from + (part->start - c.to), *to = part->start + shift;
    size_t bytes = part->bytes, stride = c.stride;
    uint64_t batch = whole_batch ? c.batch : 1;
    if (!bytes)
        return;
    EACH_COPY(memcpy(to + i * stride, from, bytes))
    if (wrong)
        c.wrong = 1;
}

enum { MOST = 256 };
static void *created_part(void *part)
{
    copy_part(part);
    return NULL;
}

/* One copy by threads that are created for it. */
static bool create_and_copy(struct slot *s)
{
    pthread_t ids[MOST];
    struct part parts[MOST];
    size_t share = (s->bytes / s->threads + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    unsigned count = s->threads < MOST ? s->threads : MOST, made = 1;
    for (unsigned i = 0; i < count; i++) {
        size_t from = i * share < s->bytes ? i * share : s->bytes, end = from + share;
        parts[i] = (struct part){c.to + from, (i + 1 == count || end > s->bytes ? s->bytes : end) - from, s->page_bytes, 0};
    }
    while (made < count && pthread_create(&ids[made], NULL, created_part, &parts[made]) == 0)
        made++;
    copy_part(&parts[0]);
    for (unsigned i = 1; i < made; i++)
        pthread_join(ids[i], NULL);
    return made == count;
}

static void run(struct slot *s)
{
    if (s->bytes < s->threads * s->page_bytes)
        skip(s, "there is less than a page for each thread");
    c = copy_begin(s);
    shift = 0;
    created = true;
    whole_batch = c.batch == 1 || key_is(s, "helpers", "batch");
    char *start = c.to;
    uint64_t turns = whole_batch ? 1 : c.batch;
    size_t stride = c.stride;
    for (unsigned i = 0; i < c.warm_up; i++) { /* COPY_BEFORE, by these threads */
        pool_wake(s);
        on_every_thread(s, copy_part, start, s->bytes, 0);
    }
    if (key_is(s, "helpers", "asleep"))
        for (uint64_t i = 0; i < turns; i++, shift += stride) {
            pool_rest(s);
            for (int open = phase_begin(s, "copy", 0); open; open = phase_end_series(s)) {
                pool_wake_only(s);
                on_every_thread(s, copy_part, start, s->bytes, 0);
            }
        }
    else if (key_is(s, "helpers", "created"))
        PHASE(s, "copy") {
            for (uint64_t i = 0; i < turns; i++, shift += stride)
                created = create_and_copy(s) && created;
        }
    else {
        pool_stay(s, (unsigned)turns);
        PARALLEL_PHASE(s, "copy") {
            for (uint64_t i = 0; i < turns; i++, shift += stride)
                on_every_thread(s, copy_part, start, s->bytes, 0);
        }
        pool_stay(s, 1);
    }
    shift = 0;
    check_done(s, !created, "pthread_create");
    copy_end(s, &c);
}

METHOD(copy_memcpy_threads, .experiment = "copy", .name = "memcpy-threads",
       .summary = "memcpy by several threads, each over its own contiguous part of the block; one handshake a copy.",
       .phases = "copy", .keys = COPY_KEYS " threads:count helpers:asleep|spinning|created|batch", .memory = COPY_MEMORY,
       .laws = COPY_LAWS "; helpers=asleep & threads > 1: helper_sleeps >= batch * (threads - 1); "
               "helpers=spinning & threads > 1: shared_turns >= batch; "
               "helpers=batch & threads > 1: shared_turns >= 1; "
               "helpers=batch & threads > 1: foreign_delays == 0",
       .calls = "copy:futex?,clone3?,clone?,mmap?,munmap?,mprotect?,madvise?,rt_sigprocmask?,sched_yield?", .run = run);
