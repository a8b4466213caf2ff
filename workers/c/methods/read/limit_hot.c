/* See limit_hot.h. */
#include "limit_hot.h"
#include <pthread.h>
#include <stdatomic.h>

enum { PIECE = 1 << 15, TRY_BYTES = 1 << 28, TRIES = 2 };

static struct {
    pthread_t thread;
    atomic_int state; /* 0: wait, 1: go, 2: done, 3: end */
} helper;

static void stream(const char *start, size_t bytes)
{
    const volatile char *p = start;
    for (size_t i = 0; i < bytes; i += 64)
        (void)p[i];
}

static void consume_share(struct sink *sink, const char *start, size_t bytes, bool streams)
{
    size_t step = streams ? PIECE : bytes;
    for (size_t at = 0; at < bytes; at += step) {
        size_t piece = bytes - at < step ? bytes - at : step;
        if (streams)
            stream(start + at, piece);
        consume(sink, start + at, piece);
    }
}

static void *help(void *argument)
{
    struct hot *hot = argument;
    int state;
    while ((state = atomic_load_explicit(&helper.state, memory_order_acquire)) == 0)
        pause_briefly();
    if (state == 1) {
        consume_share(&hot->sinks[1], hot->copy + hot->middle, hot->bytes - hot->middle, hot->way.streams);
        atomic_store_explicit(&helper.state, 2, memory_order_release);
    }
    return NULL;
}

static bool is_walk(const struct sink *sink)
{
    return sink->kind == CONSUME_RECORDS || sink->kind == CONSUME_PAYLOAD;
}

/* The first record that begins in the second half, and its number. */
static void find_middle(struct hot *hot, const struct walk *rules)
{
    size_t at = WALK_FILE_HEADER;
    uint32_t bytes;
    while (at < hot->bytes / 2 && hot->bytes - at > WALK_RECORD_HEADER) {
        memcpy(&bytes, hot->copy + at + 8, sizeof bytes);
        bytes = rules->swapped ? __builtin_bswap32(bytes) : bytes;
        if (bytes > rules->limit || bytes > hot->bytes - at - WALK_RECORD_HEADER)
            break;
        at += WALK_RECORD_HEADER + bytes;
        hot->records_before++;
    }
    hot->middle = at;
}

void hot_begin(struct slot *s, struct hot *hot, const struct input *in, const char *copy, size_t bytes, struct hot_way way)
{
    *hot = (struct hot){.copy = copy, .bytes = bytes, .way = way, .middle = bytes, .sinks = {in->sink, in->sink}};
    if (way.shares < 2)
        return;
    hot->middle = bytes / 2 / BLOCK_BYTES * BLOCK_BYTES;
    if (is_walk(&in->sink)) {
        find_middle(hot, &in->sink.walk);
        hot->sinks[1].walk.skip = 0;
        hot->sinks[1].walk.records = hot->records_before;
    }
    atomic_store(&helper.state, 0);
    if ((errno = pthread_create(&helper.thread, NULL, help, hot)) != 0)
        fail(s, "pthread_create");
}

void hot_pass(struct hot *hot)
{
    bool shared = hot->way.shares > 1;
    struct sink *all = &hot->sinks[0], *second = &hot->sinks[1];
    if (shared)
        atomic_store_explicit(&helper.state, 1, memory_order_release);
    consume_share(all, hot->copy, hot->middle, hot->way.streams);
    while (shared && atomic_load_explicit(&helper.state, memory_order_acquire) != 2)
        pause_briefly();
    if (!shared)
        return;
    second->sum += all->sum;
    second->delivered_bytes += all->delivered_bytes;
    second->walk.fold += all->walk.fold;
    second->walk.record_bytes += all->walk.record_bytes;
    *all = *second;
}

void hot_end(const struct hot *hot)
{
    if (hot->way.shares > 1)
        pthread_join(helper.thread, NULL);
}

static uint64_t try_ns(struct slot *s, const struct input *in, const char *copy, struct hot_way way)
{
    struct hot hot;
    hot_begin(s, &hot, in, copy, in->bytes < TRY_BYTES ? in->bytes : TRY_BYTES, way);
    uint64_t start = now_ns();
    hot_pass(&hot);
    uint64_t spent = now_ns() - start;
    hot_end(&hot);
    return spent;
}

struct hot_way hot_best(struct slot *s, const struct input *in, const char *copy)
{
    static struct {
        const struct cell *cell;
        struct hot_way way;
    } known[32];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (known[i].cell == s->cell)
            return known[i].way;
    unsigned shares = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? MOST_SHARES : 1;
    struct hot_way best = {1, false};
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < TRIES * 2 * shares; i++) {
        struct hot_way way = {1 + i / 2 % shares, i % 2};
        uint64_t spent = way.streams && !is_walk(&in->sink) ? UINT64_MAX : try_ns(s, in, copy, way);
        if (spent < least) {
            least = spent;
            best = way;
        }
    }
    if (count < sizeof known / sizeof *known) {
        known[count].cell = s->cell;
        known[count++].way = best;
    }
    return best;
}
