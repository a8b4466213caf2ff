/* The method's side of a neighbor (neighbor.h). Nothing here runs within a phase. */
#include "neighbor.h"
#include "core.h"
#include "pin.h"
#include <pthread.h>
#include <sys/wait.h>

enum { STILL_THERE_TURNS = 1 << 20 };

static struct neighbor *neighbor; /* NULL: none */
static pthread_t thread;
static bool has_thread;
static pid_t process;

static void *live(void *argument)
{
    neighbor_live(argument);
    return NULL;
}

static struct neighbor *shared_with(struct slot *s, int descriptor)
{
    int flags = MAP_SHARED | MAP_POPULATE | (descriptor < 0 ? MAP_ANONYMOUS : 0);
    struct neighbor *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    check_map(s, shared);
    return shared;
}

static void start_thread(struct slot *s, int cpu)
{
    neighbor = shared_with(s, -1);
    neighbor->cpu = cpu;
    neighbor->page_bytes = s->page_bytes;
    if ((errno = pthread_create(&thread, NULL, live, neighbor)) != 0)
        fail(s, "pthread_create");
    has_thread = true;
}

/* The helper's verb `neighbor`, which finds the shared memory as its standard input. */
static void start_process(struct slot *s, int cpu)
{
    int descriptor = memfd_create("pagewise-neighbor", memfd_flags());
    const char *obstacle = memfd_obstacle(descriptor);
    if (obstacle)
        skip(s, obstacle);
    if (descriptor < 0)
        fail(s, "memfd_create");
    if (ftruncate(descriptor, sizeof *neighbor) != 0)
        fail(s, "ftruncate");
    neighbor = shared_with(s, descriptor);
    neighbor->process = true;
    neighbor->cpu = cpu;
    neighbor->page_bytes = s->page_bytes;
    char *verb[] = {"neighbor", (char *)arena_text("%d", getpid()), NULL};
    process = helper_start(s, verb, descriptor, -1);
    close(descriptor);
}

/* Whoever waits finds out as well that the process has ended. */
static void still_there(struct slot *s)
{
    if (process && waitpid(process, NULL, WNOHANG) == process) {
        process = 0;
        errno = ECHILD;
        fail_because(s, "posix_spawn", "the neighbor ended before its time");
    }
}

void neighbor_open(struct slot *s)
{
    if (key_is(s, "neighbor", "none"))
        return;
    int cpu = pin_beside(s);
    if (key_is(s, "neighbor", "other-process"))
        start_process(s, cpu);
    else
        start_thread(s, cpu);
    for (uint64_t turns = 1; !atomic_load(&neighbor->ready); turns++) {
        pause_briefly();
        if (turns % STILL_THERE_TURNS == 0)
            still_there(s);
    }
    errno = neighbor->error;
    check_done(s, errno, "sched_setaffinity, mmap of the neighbor");
}

void neighbor_begin(void)
{
    if (!neighbor)
        return;
    atomic_store(&neighbor->end_ns, 0);
    atomic_store(&neighbor->begin_ns, now_ns());
    atomic_fetch_add(&neighbor->opened, 1);
}

void neighbor_pause(struct slot *s)
{
    if (!neighbor)
        return;
    atomic_store(&neighbor->end_ns, now_ns());
    for (uint64_t turns = 1; atomic_load(&neighbor->closed) != atomic_load(&neighbor->opened); turns++) {
        pause_briefly();
        if (turns % STILL_THERE_TURNS == 0)
            still_there(s);
    }
}

void neighbor_leave(void)
{
    if (!neighbor)
        return;
    atomic_store(&neighbor->end_ns, 1);
    atomic_store(&neighbor->ending, true);
    if (has_thread)
        pthread_join(thread, NULL);
    if (process)
        waitpid(process, NULL, 0);
    munmap(neighbor, sizeof *neighbor);
    neighbor = NULL;
    has_thread = false;
    process = 0;
}

static uint64_t sum_of(const uint64_t counts[LATENCY_BUCKETS])
{
    uint64_t sum = 0;
    for (int i = 0; i < LATENCY_BUCKETS; i++)
        sum += counts[i];
    return sum;
}

void neighbor_close(struct slot *s)
{
    if (!neighbor) {
        fact(s, "neighbor_ops", 0);
        return;
    }
    neighbor_pause(s);
    still_there(s);
    fact(s, "neighbor_ops", sum_of(neighbor->beside));
    fact(s, "idle_ops", sum_of(neighbor->idle));
    fact(s, "neighbor_interval_ns", neighbor->interval_ns);
    fact(s, "neighbor_refused", neighbor->refused);
    fact(s, "neighbor_faults", neighbor->faults);
    fact(s, "foreign_neighbor_switches", neighbor->switches);
    latency_counts(s, neighbor->idle, true);
    latency_counts(s, neighbor->beside, false);
    neighbor_leave();
}
