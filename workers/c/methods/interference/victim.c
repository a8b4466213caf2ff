/* See victim.h. */
#include "victim.h"
#include "core.h"
#include "io.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { READ_BYTES = 4096, MOST_A_SECOND = 1000000 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du >> 32;
}

static void lost(struct victim *v, const char *call)
{
    v->error = errno;
    v->failed = call;
    atomic_store(&v->stage, ENDED);
    _exit(1);
}

/* One operation: a read of 4 KiB, or of a word of the page that is mapped, which is compared with what the file was made of. */
static void use_page(struct victim *v, size_t number)
{
    static char buffer[READ_BYTES] __attribute__((aligned(READ_BYTES)));
    size_t at = number * v->page;
    uint64_t word;
    if (v->map)
        word = *(const volatile uint64_t *)(v->map + at);
    else if (pread(v->file, buffer, sizeof buffer, (off_t)at) != sizeof buffer)
        lost(v, "pread");
    else
        memcpy(&word, buffer, sizeof word);
    v->wrong += word != pattern_word(v->seed, at / 8);
}

/* Operation i is due at i times the interval, whether the one before has ended or not, and its latency counts from then. The
 * last one is the last that was due when the worker ended, and not before the least number is reached. */
static void read_at_due_times(struct victim *v)
{
    uint64_t state = v->seed | 1, pages = v->bytes / v->page, begun = now_ns();
    for (uint64_t i = 0, last = UINT64_MAX; i < last; i++) {
        uint64_t due = begun + i * v->interval_ns;
        while (now_ns() < due)
            pause_briefly();
        use_page(v, next_random(&state) * pages >> 32);
        v->counts[latency_bucket(now_ns() - due)]++;
        v->ops = i + 1;
        uint64_t ended = atomic_load_explicit(&v->worker_ended_ns, memory_order_relaxed);
        if (ended && last == UINT64_MAX) {
            last = ended > begun ? (ended - begun) / v->interval_ns : 0;
            last = last < v->least_ops ? v->least_ops : last;
        }
    }
    v->wall_ns = now_ns() - begun;
}

static void pass_over(struct victim *v)
{
    for (size_t i = 0; i < v->bytes / v->page; i++)
        use_page(v, i);
}

static void prepare(struct victim *v)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        signal(own[i], SIG_DFL); /* The worker's handlers write to its transcript. */
    cpu_set_t last;
    int cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &v->before))
        cpu--;
    CPU_ZERO(&last);
    CPU_SET(cpu, &last);
    if (sched_setaffinity(0, sizeof last, &last) != 0)
        lost(v, "sched_setaffinity");
    pass_over(v); /* By reads, whatever follows: with MADV_RANDOM each page would be a request of its own. */
    if (v->maps) {
        char *map = mmap(NULL, v->bytes, PROT_READ, MAP_SHARED, v->file, 0);
        if (map == MAP_FAILED)
            lost(v, "mmap");
        if (v->advice >= 0 && madvise(map, v->bytes, v->advice) != 0)
            lost(v, "madvise");
        v->map = map;
    }
    for (int pass = 1; pass < WARM_PASSES; pass++)
        pass_over(v);
}

__attribute__((noreturn)) static void serve(struct victim *v)
{
    struct rusage before, after;
    struct io io_before, io_after;
    prepare(v);
    io_before = io_so_far();
    getrusage(RUSAGE_SELF, &before);
    atomic_store(&v->stage, READY);
    while (atomic_load(&v->stage) == READY)
        pause_briefly();
    read_at_due_times(v);
    getrusage(RUSAGE_SELF, &after);
    io_after = io_so_far();
    v->major_faults = (uint64_t)(after.ru_majflt - before.ru_majflt);
    v->device_bytes = io_after.device_read - io_before.device_read;
    atomic_store(&v->stage, ENDED);
    _exit(0);
}

static struct victim *running;

/* Gives the worker its CPUs back; a slot that ends early leaves no victim. */
static void leave(void)
{
    slot_left = NULL;
    if (running->process > 0) {
        kill(running->process, SIGKILL);
        waitpid(running->process, NULL, 0);
    }
    sched_setaffinity(0, sizeof running->before, &running->before);
    munmap(running, sizeof *running);
}

/* Whether it ended too early is seen without waiting for it. */
static bool is_gone(struct victim *v)
{
    if (v->process > 0 && waitpid(v->process, NULL, WNOHANG) == v->process)
        v->process = 0;
    return v->process == 0;
}

__attribute__((noreturn)) static void fail_for(struct slot *s, const struct victim *v)
{
    errno = v->error;
    if (v->failed)
        fail(s, arena_text("%s of the victim", v->failed));
    fail_because(s, "fork", "the victim has ended early");
}

static void take_other_cpus(struct slot *s, const struct victim *v)
{
    cpu_set_t others = v->before;
    int cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &others))
        cpu--;
    CPU_CLR(cpu, &others);
    if (sched_setaffinity(0, sizeof others, &others) != 0)
        fail(s, "sched_setaffinity");
}

struct victim *victim_start(struct slot *s, int file, size_t bytes)
{
    if (key_size(s, "rate") > MOST_A_SECOND)
        skip(s, "rate is a million reads a second at the most: the clock would be what is measured");
    struct victim *v = mmap(NULL, sizeof *v, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, v);
    *v = (struct victim){.file = file, .bytes = bytes, .page = s->page_bytes, .seed = s->seed,
                         .interval_ns = 1000000000u / key_size(s, "rate"), .least_ops = key_size(s, "ops"), .advice = -1};
    v->maps = !key_is(s, "victim", "pread");
    if (key_is(s, "victim", "mmap-random"))
        v->advice = MADV_RANDOM;
    else if (key_is(s, "victim", "mmap-sequential"))
        v->advice = MADV_SEQUENTIAL;
    if (sched_getaffinity(0, sizeof v->before, &v->before) != 0)
        fail(s, "sched_getaffinity");
    if (CPU_COUNT(&v->before) < 2)
        skip(s, "one CPU: the victim and the worker would take turns");
    running = v;
    pid_t process = fork();
    if (process == 0)
        serve(v);
    v->process = process; /* Not in the child: both have this memory. */
    slot_left = leave;
    if (v->process < 0)
        fail(s, "fork");
    while (atomic_load(&v->stage) == PREPARING && !is_gone(v))
        sched_yield();
    if (atomic_load(&v->stage) != READY)
        fail_for(s, v);
    take_other_cpus(s, v);
    return v;
}

void victim_go(struct victim *v)
{
    atomic_store(&v->stage, AT_WORK);
}

void victim_stop(struct slot *s, struct victim *v)
{
    atomic_store(&v->worker_ended_ns, now_ns());
    int status = 0;
    while (waitpid(v->process, &status, 0) < 0)
        if (errno != EINTR)
            fail(s, "waitpid");
    v->process = 0;
    if (status != 0 || v->failed)
        fail_for(s, v);
    uint64_t timed = 0;
    for (size_t i = 0; i < LATENCY_BUCKETS; i++)
        timed += v->counts[i];
    fact(s, "timed_ops", timed);
    fact(s, "victim_ops", v->ops);
    fact(s, "victim_wall_ns", v->wall_ns);
    fact(s, "interval_ns", v->interval_ns);
    fact(s, "wrong_reads", v->wrong);
    fact(s, "victim_major_faults", v->major_faults);
    fact(s, "victim_device_bytes", v->device_bytes);
    latency_counts(s, v->counts, false);
    leave();
}
