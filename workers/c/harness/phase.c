/* The stopwatch around a phase's braces. */
#include "core.h"
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static struct counters before;
static uint64_t started_ns;
static bool parallel_phase;

void counters_read(struct counters *into)
{
    struct rusage usage;
    struct timespec cpu;
    getrusage(RUSAGE_SELF, &usage);
    into->user_ns = (uint64_t)usage.ru_utime.tv_sec * 1000000000u + (uint64_t)usage.ru_utime.tv_usec * 1000u;
    into->system_ns = (uint64_t)usage.ru_stime.tv_sec * 1000000000u + (uint64_t)usage.ru_stime.tv_usec * 1000u;
    into->minor_faults = (uint64_t)usage.ru_minflt;
    into->major_faults = (uint64_t)usage.ru_majflt;
    into->voluntary_switches = (uint64_t)usage.ru_nvcsw;
    into->involuntary_switches = (uint64_t)usage.ru_nivcsw;
    perf_read(into->extra);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    into->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

static void mark(const char *word, const char *phase)
{
    char text[96];
    int length = snprintf(text, sizeof text, "%s %s", word, phase), error = errno;
    (void)!write(-1, text, (size_t)length);
    /* The mark fails on purpose; what the body's last call said must still be there. */
    errno = error;
}

enum { STACK_BYTES = 16 << 10 };

/* The stack below is not mapped yet or, after fork(), write-protected: what a phase calls would fault on it. */
__attribute__((noinline)) static void warm_stack(void)
{
    volatile char below[STACK_BYTES];
    for (size_t i = 0; i < sizeof below; i += 1024)
        below[i] = 0;
}

/* The first use of the stopwatch faults in its own pages; afterwards it makes no fault that a phase would be charged. */
void warm_stopwatch(void)
{
    struct counters after;
    warm_stack();
    counters_read(&before);
    counters_read(&after);
    counts_clock();
    started_ns = now_ns();
    current_phase = NULL;
}

int phase_begin(struct slot *s, const char *name, int parallel)
{
    state_cool();
    current_phase = name;
    parallel_phase = parallel;
    if (parallel)
        pool_arm(s);
    if (in_child())
        child_barrier();
    counters_read(&before);
    if (request.trace_marks)
        mark("phase", name);
    counts_begin(before.extra);
    started_ns = now_ns();
    return 1;
}

static struct sample end_sample(struct slot *s)
{
    struct sample sample = {s->number, s->round, s->cell->number, current_phase, s->ops, s->phase_bytes,
                            started_ns, now_ns() - started_ns, {0}};
    uint64_t counted[MAX_EXTRA];
    int columns = counts_end(counted);
    if (request.trace_marks)
        mark("end", current_phase);
    if (parallel_phase)
        pool_settle(s);
    struct counters after;
    struct timespec cpu;
    /* In the opposite order of counters_read(), so that the CPU clock is read next to the wall clock on both sides. */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    counters_read(&after);
    after.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    memcpy(after.extra, counted, (size_t)columns * sizeof *counted);
    uint64_t *spent = (uint64_t *)&sample.spent;
    for (size_t i = 0; i < sizeof after / sizeof(uint64_t); i++)
        spent[i] = ((uint64_t *)&after)[i] - ((uint64_t *)&before)[i];
    counts_spent(sample.spent.extra);
    current_phase = NULL;
    return sample;
}

int phase_end(struct slot *s)
{
    struct sample sample = end_sample(s);
    if (in_child())
        child_sample(&sample);
    else
        record_sample(&sample);
    return 0;
}

int phase_end_series(struct slot *s)
{
    struct sample sample = end_sample(s);
    if (in_child())
        child_add_sample(&sample);
    else
        add_sample(&sample);
    return 0;
}

void phase_forget(struct slot *s, const char *name)
{
    forget_sample(s->number, name);
}
