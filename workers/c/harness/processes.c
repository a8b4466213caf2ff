/* `processes=N`: forked copies of the slot, each with its share of the bytes, that pass every phase's start together; the
 * parent adds up what they report. */
#include "child.h"
#include <signal.h>
#include <sys/wait.h>

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
    pool_facts(s);
}

static void child_run(struct slot *s, struct child *child, pid_t parent, const struct work *work)
{
    child_begin(child, parent);
    code_touch(); /* fork() copies no mapping of a file's pages */
    warm_stopwatch();
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

/* Waits for a process that there is, however often it is interrupted. */
static pid_t reap(pid_t pid, int *status)
{
    pid_t got;
    while ((got = waitpid(pid, status, 0)) < 0 && errno == EINTR)
        continue;
    return got;
}

static void forget(pid_t *pids, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    for (unsigned i = 0; i < count; i++)
        reap(pids[i], NULL);
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
        reap(pids[i], &status);
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
    warm_stopwatch();
}

void copy_leave(void)
{
    _exit(0);
}

void copy_close(struct slot *s, pid_t pid)
{
    int status = 0;
    if (pid > 0 && reap(pid, &status) != pid)
        fail(s, "waitpid");
    const char *said = gathering->children[0].ending;
    if (!gathering_close(s, status, said[0] ? arena_text("%s", said) : NULL))
        siglongjmp(slot_exit, 1);
}
