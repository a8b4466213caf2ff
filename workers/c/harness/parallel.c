/* `threads=N`: helper threads that wait at the start line of a parallel phase. */
#include "core.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

enum { LINE = 128, ASLEEP_NS = 50000 };

/* What a thread writes while the work is under way: the last turn it began, and the last it ended. */
struct progress {
    _Alignas(LINE) atomic_uint begun;
    atomic_uint finished;
};

struct threads {
    pthread_t ids[MAX_PROCESSES];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    unsigned helpers;
    /* Guarded by the lock: calls of pool_arm(), turns of the last one and of all, and helpers that wait for the next call. */
    unsigned armed, turns, due, resting;
    bool closing;
    atomic_uint ready, settled, sleeps; /* of all calls */
    atomic_uint alone; /* threads that ended before another one had begun */
    unsigned shared_turns;
    /* What a helper reads before its part, on one line. */
    _Alignas(LINE) atomic_uint started; /* the last turn whose work may begin */
    char mark;
    void (*work)(const struct part *);
    char *start;
    size_t bytes, page_bytes, share_bytes;
    struct progress of[]; /* each thread's own */
};

static struct part part_of(const struct threads *t, unsigned index)
{
    size_t from = (size_t)index * t->share_bytes, to = from + t->share_bytes;
    from = from < t->bytes ? from : t->bytes;
    to = to < t->bytes ? to : t->bytes;
    return (struct part){t->start + from, to - from, t->page_bytes, t->mark};
}

struct helper {
    struct threads *pool;
    unsigned index;
};

/* One thread's share of the work. Where each of two threads had begun before the other one ended, both worked at the same
 * time: that costs a store before and a look after, and no clock. */
static void take_part(struct threads *t, unsigned index, unsigned turn)
{
    struct part part = part_of(t, index);
    atomic_store_explicit(&t->of[index].begun, turn, memory_order_relaxed);
    t->work(&part);
    atomic_store_explicit(&t->of[index].finished, turn, memory_order_release);
    bool together = true;
    for (unsigned i = 0; i <= t->helpers; i++) /* one that has ended may have begun the next turn */
        together &= (int)(atomic_load_explicit(&t->of[i].begun, memory_order_relaxed) - turn) >= 0;
    if (!together && part.bytes)
        atomic_fetch_add(&t->alone, 1);
}

/* The kernel adds what a running thread has used to its process's clock at ticks, and whenever the thread asks for its own:
 * without this, a phase shorter than a tick would have the caller's time only. What is too much then is a helper's spinning
 * from here to the start of the phase, some microseconds. */
static void account_own_time(void)
{
    struct timespec own;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
}

static unsigned switches_of_thread(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (unsigned)usage.ru_nvcsw;
}

static void *help(void *argument)
{
    struct helper *me = argument;
    struct threads *t = me->pool;
    unsigned slept = switches_of_thread();
    for (unsigned call = 1, turn = 1;; call++) {
        pthread_mutex_lock(&t->lock);
        t->resting++;
        while (t->armed < call && !t->closing)
            pthread_cond_wait(&t->wake, &t->lock);
        t->resting--;
        bool closing = t->closing;
        unsigned end = turn + t->turns;
        pthread_mutex_unlock(&t->lock);
        if (closing)
            return NULL;
        account_own_time();
        atomic_fetch_add(&t->ready, 1);
        for (; turn < end; turn++) {
            while (atomic_load_explicit(&t->started, memory_order_acquire) < turn)
                pause_briefly();
            take_part(t, me->index, turn);
        }
        account_own_time();
        unsigned before = slept;
        slept = switches_of_thread();
        atomic_fetch_add(&t->sleeps, slept - before);
        atomic_fetch_add(&t->settled, 1);
    }
}

static void no_work(const struct part *part)
{
    (void)part;
}

void pool_open(struct slot *s)
{
    s->pool = NULL;
    if (s->threads < 2)
        return;
    if (s->threads > MAX_PROCESSES)
        skip(s, "more than 256 threads are not supported");
    char *room = arena(sizeof(struct threads) + s->threads * sizeof(struct progress) + LINE);
    struct threads *t = (void *)(room + -(uintptr_t)room % LINE);
    struct helper *helpers = arena(s->threads * sizeof *helpers);
    *t = (struct threads){.page_bytes = s->page_bytes, .turns = 1};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    s->pool = t;
    for (unsigned i = 0; i + 1 < s->threads; i++) {
        helpers[i] = (struct helper){t, i + 1};
        if ((errno = pthread_create(&t->ids[i], NULL, help, &helpers[i])) != 0)
            fail(s, "pthread_create");
        t->helpers++;
    }
    /* One empty turn: each helper faults in its stack and all it will touch here, not in somebody's phase. */
    pool_arm(s);
    on_every_thread(s, no_work, NULL, 0, 0);
}

void pool_close(struct slot *s)
{
    struct threads *t = s->pool;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < t->helpers; i++)
        pthread_join(t->ids[i], NULL);
    s->pool = NULL;
}

/* Wakes the helpers; on_every_thread() may follow at once, and a helper takes its part when it has come. */
void pool_wake_only(struct slot *s)
{
    struct threads *t = s->pool;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->armed++;
    t->due += t->turns;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
}

void pool_stay(struct slot *s, unsigned turns)
{
    if (s->pool)
        s->pool->turns = turns; /* the helpers sleep, or have come for turns that are over */
}

/* Before the clock: wakes the helpers and waits until each of them spins at the start line. */
void pool_arm(struct slot *s)
{
    pool_wake_only(s);
    while (s->pool && atomic_load(&s->pool->ready) < s->pool->helpers * s->pool->armed)
        sched_yield();
}

/* Before the clock: waits until the helpers sleep, and have for a while. */
void pool_rest(struct slot *s)
{
    struct threads *t = s->pool;
    if (!t)
        return;
    for (unsigned resting = 0; resting < t->helpers;) {
        pthread_mutex_lock(&t->lock);
        resting = t->resting;
        pthread_mutex_unlock(&t->lock);
    }
    for (uint64_t end = now_ns() + ASLEEP_NS; now_ns() < end;)
        pause_briefly();
}

/* After the clock: waits until the helpers' time is in the process's clock. */
void pool_settle(struct slot *s)
{
    struct threads *t = s->pool;
    while (t && t->started == t->due && atomic_load(&t->settled) < t->helpers * t->armed)
        pause_briefly();
}

void pool_wake(struct slot *s)
{
    pool_arm(s);
}

void on_every_thread(struct slot *s, void (*work)(const struct part *), char *start, size_t bytes, char mark)
{
    struct threads *t = s->pool;
    if (!t) {
        struct part whole = {start, bytes, s->page_bytes, mark};
        work(&whole);
        return;
    }
    size_t align = s->huge_page_bytes && bytes >= s->threads * s->huge_page_bytes ? s->huge_page_bytes : s->page_bytes;
    size_t share = ((bytes + s->threads - 1) / s->threads + align - 1) / align * align;
    t->work = work;
    t->start = start;
    t->bytes = bytes;
    t->mark = mark;
    t->share_bytes = share;
    unsigned turn = t->started + 1;
    atomic_store_explicit(&t->started, turn, memory_order_release);
    take_part(t, 0, turn);
    for (unsigned i = 1; i <= t->helpers; i++)
        while (atomic_load_explicit(&t->of[i].finished, memory_order_acquire) != turn)
            pause_briefly();
    t->shared_turns += bytes > 0;
}

void pool_facts(struct slot *s)
{
    struct threads *t = s->pool;
    if (!t)
        return;
    pool_settle(s);
    fact(s, "shared_turns", t->shared_turns);
    fact(s, "foreign_delays", atomic_load(&t->alone));
    fact(s, "helper_sleeps", atomic_load(&t->sleeps));
}
