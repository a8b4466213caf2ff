/* `threads=N`: helper threads that wait at the start line of a parallel phase. `processes=N`: forked copies of the slot,
 * each with its share of the bytes, that pass every phase's start together; the parent adds up what they report. */
#include "core.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

struct threads {
    pthread_t ids[MAX_PROCESSES];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    unsigned helpers, armed;        /* `armed` counts calls of pool_arm(); guarded by the lock */
    bool closing;
    atomic_uint ready, started, finished, settled; /* `started` equals `armed` once the work may begin */
    void (*work)(const struct part *);
    char *start;
    size_t bytes, page_bytes, share_bytes;
    char mark;
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

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

/* The kernel adds what a running thread has used to its process's clock at ticks, and whenever the thread asks for its own:
 * without this, a phase shorter than a tick would have the caller's time only. What is too much then is a helper's spinning
 * from here to the start of the phase, some microseconds. */
static void account_own_time(void)
{
    struct timespec own;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
}

static void *help(void *argument)
{
    struct helper *me = argument;
    struct threads *t = me->pool;
    for (unsigned turn = 1;; turn++) {
        pthread_mutex_lock(&t->lock);
        while (t->armed < turn && !t->closing)
            pthread_cond_wait(&t->wake, &t->lock);
        bool closing = t->closing;
        pthread_mutex_unlock(&t->lock);
        if (closing)
            return NULL;
        account_own_time();
        atomic_fetch_add(&t->ready, 1);
        while (atomic_load_explicit(&t->started, memory_order_acquire) < turn)
            pause_briefly();
        struct part part = part_of(t, me->index);
        t->work(&part);
        atomic_fetch_add_explicit(&t->finished, 1, memory_order_release);
        account_own_time();
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
    struct threads *t = arena(sizeof *t);
    struct helper *helpers = arena(s->threads * sizeof *helpers);
    *t = (struct threads){.page_bytes = s->page_bytes};
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

/* Before the clock: wakes the helpers and waits until each of them spins at the start line. */
void pool_arm(struct slot *s)
{
    struct threads *t = s->pool;
    if (!t)
        return;
    atomic_store(&t->ready, 0);
    atomic_store(&t->finished, 0);
    atomic_store(&t->settled, 0);
    pthread_mutex_lock(&t->lock);
    t->armed++;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    while (atomic_load(&t->ready) < t->helpers)
        sched_yield();
}

/* After the clock: waits until the helpers' time is in the process's clock. */
void pool_settle(struct slot *s)
{
    struct threads *t = s->pool;
    while (t && atomic_load(&t->settled) < t->helpers && atomic_load(&t->finished) > 0)
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
    atomic_store_explicit(&t->started, t->armed, memory_order_release);
    struct part mine = part_of(t, 0);
    work(&mine);
    while (atomic_load_explicit(&t->finished, memory_order_acquire) < t->helpers)
        pause_briefly();
}

/* ---- processes ---- */

enum { CHILD_FACTS = 40 };
struct child {
    struct sample samples[MAX_PHASES];
    struct {
        char name[40], word[128];
        uint64_t value;
        bool is_word;
    } facts[CHILD_FACTS];
    int sample_count, fact_count;
    char ending[512];
};
struct gathering {
    atomic_uint arrived, turn;
    unsigned processes;
    atomic_bool broken; /* a child ended early: nobody waits at a barrier any more */
    struct child children[];
};
static struct gathering *gathering;
static struct child *me;

bool in_child(void)
{
    return me != NULL;
}

void child_end(const char *line)
{
    snprintf(me->ending, sizeof me->ending, "%s", line);
    atomic_store(&gathering->broken, true);
    _exit(5);
}

void child_barrier(void)
{
    struct gathering *g = gathering;
    unsigned turn = atomic_load(&g->turn);
    if (atomic_fetch_add(&g->arrived, 1) + 1 == g->processes) {
        atomic_store(&g->arrived, 0);
        atomic_fetch_add(&g->turn, 1);
        return;
    }
    for (unsigned spins = 0; atomic_load(&g->turn) == turn; spins++) {
        if (atomic_load(&g->broken))
            _exit(5);
        /* With more processes than processors, spinning alone would keep the late ones from arriving. */
        if (spins % 1024 == 1023)
            sched_yield();
        else
            pause_briefly();
    }
}

void child_sample(const struct sample *sample)
{
    if (me->sample_count < MAX_PHASES)
        me->samples[me->sample_count++] = *sample;
}

void child_add_sample(const struct sample *sample)
{
    for (int i = 0; i < me->sample_count; i++)
        if (strcmp(me->samples[i].phase, sample->phase) == 0) {
            sample_into(&me->samples[i], sample);
            return;
        }
    child_sample(sample);
}

void child_fact(const char *name, uint64_t value, const char *word)
{
    if (me->fact_count == CHILD_FACTS)
        return;
    int i = me->fact_count++;
    snprintf(me->facts[i].name, sizeof me->facts[i].name, "%s", name);
    me->facts[i].value = value;
    me->facts[i].is_word = word != NULL;
    if (word)
        snprintf(me->facts[i].word, sizeof me->facts[i].word, "%s", word);
}

static void child_begin(struct child *child, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(5);
    me = child;
    memset(child, 0, sizeof *child);
    warm_stopwatch();
}

/* What a child does: the whole method on its share of the bytes, or one piece of work. */
struct work {
    void (*run)(struct slot *, void *);
    void *argument;
};

static void whole_method(struct slot *s, void *argument)
{
    (void)argument;
    s->bytes = s->phase_bytes = s->bytes / gathering->processes;
    pool_open(s);
    s->cell->method->run(s);
}

static void child_run(struct slot *s, struct child *child, pid_t parent, const struct work *work)
{
    child_begin(child, parent);
    work->run(s, work->argument);
    _exit(0);
}

static void add_samples(struct slot *s)
{
    for (int i = 0; i < gathering->children[0].sample_count; i++) {
        struct sample sum = gathering->children[0].samples[i];
        uint64_t end = sum.start_ns + sum.wall_ns;
        for (unsigned c = 1; c < gathering->processes; c++) {
            const struct sample *one = &gathering->children[c].samples[i];
            if (i >= gathering->children[c].sample_count || one->phase != sum.phase)
                fail_because(s, "fork", "the processes of this slot did not pass the same phases");
            sum.ops += one->ops;
            sum.bytes += one->bytes;
            sum.start_ns = one->start_ns < sum.start_ns ? one->start_ns : sum.start_ns;
            end = one->start_ns + one->wall_ns > end ? one->start_ns + one->wall_ns : end;
            uint64_t *into = (uint64_t *)&sum.spent;
            for (size_t k = 0; k < sizeof sum.spent / sizeof(uint64_t); k++)
                into[k] += ((const uint64_t *)&one->spent)[k];
        }
        sum.wall_ns = end - sum.start_ns;
        record_sample(&sum);
    }
}

/* Numbers of all processes are added (digests too, modulo 2^64); words are the first process's. */
static void add_facts(struct slot *s)
{
    const struct child *first = &gathering->children[0];
    for (int i = 0; i < first->fact_count; i++) {
        uint64_t sum = 0;
        for (unsigned c = 0; c < gathering->processes; c++)
            if (i < gathering->children[c].fact_count)
                sum += gathering->children[c].facts[i].value;
        const char *name = arena_text("%s", first->facts[i].name);
        if (first->facts[i].is_word)
            fact_word(s, name, arena_text("%s", first->facts[i].word));
        else if (strcmp(name, "digest") == 0)
            fact_word(s, name, arena_text("%016llx", (unsigned long long)sum));
        else
            fact(s, name, sum);
    }
}

static void forget(pid_t *pids, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    for (unsigned i = 0; i < count; i++)
        waitpid(pids[i], NULL, 0);
}

static size_t gathering_bytes(unsigned processes)
{
    return sizeof *gathering + processes * sizeof(struct child);
}

static void gathering_open(struct slot *s, unsigned processes)
{
    gathering = mmap(NULL, gathering_bytes(processes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
                     -1, 0);
    if (gathering == MAP_FAILED)
        fail(s, "mmap");
    gathering->processes = processes;
}

/* Takes what the children reported, where all ended well; or says what became of them. */
static bool gathering_close(struct slot *s, int worst, const char *ending)
{
    if (!worst) {
        add_samples(s);
        add_facts(s);
    }
    munmap(gathering, gathering_bytes(gathering->processes));
    if (ending) {
        ((struct cell *)s->cell)->ended = true;
        record_end(ending);
    } else if (worst) {
        errno = 0;
        fail_because(s, "fork", arena_text(WIFSIGNALED(worst) ? "a process of this slot was killed by signal %d"
                                                              : "a process of this slot ended with status %d",
                                           WIFSIGNALED(worst) ? WTERMSIG(worst) : WEXITSTATUS(worst)));
    }
    return !ending;
}

static void gather(struct slot *s, unsigned processes, const struct work *work)
{
    pid_t pids[MAX_PROCESSES], parent = getpid();
    gathering_open(s, processes);
    for (unsigned i = 0; i < processes; i++) {
        pids[i] = fork();
        if (pids[i] < 0) {
            int error = errno;
            forget(pids, i);
            errno = error;
            fail(s, "fork");
        }
        if (pids[i] == 0)
            child_run(s, &gathering->children[i], parent, work);
    }
    int status, worst = 0;
    const char *ending = NULL;
    for (unsigned i = 0; i < processes; i++) {
        waitpid(pids[i], &status, 0);
        if (status) {
            worst = status;
            atomic_store(&gathering->broken, true);
        }
        if (!ending && gathering->children[i].ending[0])
            ending = arena_text("%s", gathering->children[i].ending);
    }
    gathering_close(s, worst, ending);
}

void run_in_processes(struct slot *s, unsigned processes)
{
    if (processes > MAX_PROCESSES)
        skip(s, "more than 256 processes are not supported");
    if (s->bytes % (processes * s->page_bytes) != 0)
        skip(s, arena_text("%zu bytes cannot be shared evenly among %u processes in whole pages", s->bytes, processes));
    gather(s, processes, &(struct work){whole_method, NULL});
}

void run_in_child(struct slot *s, void (*work)(struct slot *, void *), void *argument)
{
    gather(s, 1, &(struct work){work, argument});
    if (s->cell->ended)
        siglongjmp(slot_exit, 1);
    warm_stopwatch(); /* fork() left its pages write-protected */
}

/* ---- one copy that a method forks by itself ---- */

static pid_t copied_from;

void copy_open(struct slot *s)
{
    copied_from = getpid();
    gathering_open(s, 1);
}

void copy_enter(void)
{
    child_begin(&gathering->children[0], copied_from);
}

void copy_leave(void)
{
    _exit(0);
}

void copy_close(struct slot *s, pid_t pid)
{
    int status = 0;
    if (pid > 0 && waitpid(pid, &status, 0) != pid)
        fail(s, "waitpid");
    const char *said = gathering->children[0].ending;
    if (!gathering_close(s, status, said[0] ? arena_text("%s", said) : NULL))
        siglongjmp(slot_exit, 1);
}
