/* See others.h. Nothing here is measured but others_catch_up(), and the passes of the threads themselves. */
#include "others.h"
#include "core.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>

enum { REST_NS = 1000000 };
static cpu_set_t before;

/* One load from each page: what a thread does whose translations are in the TLB, until somebody has them flushed. */
static void pass(const char *pages, size_t page)
{
    for (int i = 0; i < WARM_PAGES; i++)
        (void)*(const volatile char *)(pages + (size_t)i * page);
}

static void one_turn(struct other *me, unsigned turn)
{
    struct others *all = me->all;
    uint64_t passes = 0, most = all->by_owed ? me->owed : UINT64_MAX;
    const char *pages = me->pages;
    size_t page = all->page_bytes;
    while (atomic_load_explicit(&all->begun, memory_order_acquire) != turn)
        ;
    uint64_t start = now_ns(), cpu = thread_cpu_ns();
    atomic_fetch_add(&all->moving, 1);
    unsigned over;
    while (all->asleep && !all->by_owed && (over = atomic_load(&all->ended)) != turn)
        syscall(SYS_futex, &all->ended, FUTEX_WAIT_PRIVATE, over, NULL, NULL, 0);
    while (passes < most && atomic_load_explicit(&all->ended, memory_order_relaxed) != turn) {
        pass(pages, page);
        passes++;
    }
    me->cpu_ns = thread_cpu_ns() - cpu;
    me->elapsed_ns = now_ns() - start;
    me->ran_on = sched_getcpu();
    atomic_store(&me->passes, passes);
}

static void *live(void *argument)
{
    struct other *me = argument;
    struct others *all = me->all;
    for (unsigned turn = 1;; turn++) {
        while (atomic_load(&all->turn) < turn && !atomic_load(&all->closing))
            sched_yield();
        if (atomic_load(&all->closing))
            return NULL;
        atomic_fetch_add(&all->ready, 1);
        one_turn(me, turn);
        atomic_fetch_add(&all->done, 1);
    }
}

static void go(struct others *all)
{
    atomic_store_explicit(&all->begun, all->turn, memory_order_release);
}

static void others_end(struct others *all)
{
    atomic_store_explicit(&all->ended, all->turn, memory_order_release);
    if (all->asleep)
        syscall(SYS_futex, &all->ended, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void run_on(struct slot *s, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        fail(s, "sched_setaffinity");
}

static size_t bytes_of(unsigned count)
{
    return sizeof(struct others) + count * sizeof(struct other);
}

static struct others *open_others;

/* A slot that is skipped or fails beside them would leave threads that yield for ever, and its own thread on one CPU: the
 * slots behind it saw no second CPU. */
static void leave(void)
{
    go(open_others);
    others_end(open_others);
    others_close(open_others);
}

struct others *others_open(struct slot *s)
{
    size_t running = key_size(s, "running"), warm = WARM_PAGES * s->page_bytes;
    unsigned count = running > 1 ? (unsigned)running - 1 : 0;
    if (sched_getaffinity(0, sizeof before, &before) != 0)
        fail(s, "sched_getaffinity");
    if (running > 1 && (running + s->threads > (size_t)CPU_COUNT(&before) + 1 || running > MAX_OTHERS))
        skip(s, "more running threads than CPUs: they would take turns, and what is lost would be the scheduler's doing");
    struct others *all = mmap(NULL, bytes_of(count), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, all);
    *all = (struct others){.count = count, .page_bytes = s->page_bytes};
    open_others = all;
    slot_left = leave;
    int cpu = 0;
    for (unsigned i = 0; i <= all->count; i++, cpu++) {
        while (!CPU_ISSET(cpu, &before))
            cpu++;
        run_on(s, cpu); /* a thread inherits it; the last is the caller's own */
        if (i == all->count)
            break;
        struct other *other = &all->each[i];
        other->all = all;
        other->pages = mmap(NULL, warm, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        check_map(s, other->pages);
        if ((errno = pthread_create(&other->thread, NULL, live, other)) != 0)
            fail(s, "pthread_create");
        other->lives = true;
    }
    return all;
}

void others_close(struct others *all)
{
    slot_left = NULL;
    atomic_store(&all->closing, true);
    for (unsigned i = 0; i < all->count && all->each[i].lives; i++) {
        pthread_join(all->each[i].thread, NULL);
        munmap(all->each[i].pages, WARM_PAGES * all->page_bytes);
    }
    munmap(all, bytes_of(all->count));
    (void)sched_setaffinity(0, sizeof before, &before);
}

void others_arm(struct others *all, bool by_owed)
{
    all->by_owed = by_owed;
    atomic_store(&all->ready, 0);
    atomic_store(&all->moving, 0);
    atomic_store(&all->done, 0);
    atomic_fetch_add(&all->turn, 1);
    while (atomic_load(&all->ready) < all->count)
        sched_yield();
}

void others_start(struct others *all)
{
    others_arm(all, false);
    go(all);
    while (atomic_load(&all->moving) < all->count)
        sched_yield();
    /* Until all have fallen asleep, and their CPUs with them. The caller stays awake: one that slept finds cold caches. */
    uint64_t start = now_ns();
    while (all->asleep && now_ns() - start < REST_NS)
        ;
}

void others_stop(struct others *all)
{
    others_end(all);
    while (atomic_load(&all->done) < all->count)
        sched_yield();
}

void others_catch_up(struct others *all)
{
    go(all);
    while (atomic_load_explicit(&all->done, memory_order_acquire) < all->count)
        ;
}

static unsigned cpus_used(const struct others *all)
{
    cpu_set_t seen;
    CPU_ZERO(&seen);
    CPU_SET(sched_getcpu(), &seen);
    for (unsigned i = 0; i < all->count; i++)
        CPU_SET(all->each[i].ran_on, &seen);
    return (unsigned)CPU_COUNT(&seen);
}

/* That they ran, and where. Returns the longest turn in nanoseconds. */
static uint64_t others_ran(struct slot *s, struct others *all)
{
    uint64_t beside = 0, longest = 0, on_cpu = 1000;
    for (unsigned i = 0; i < all->count; i++) {
        struct other *o = &all->each[i];
        o->owed = o->passes; /* until it is known what they would have made alone */
        beside += o->passes;
        uint64_t share = 1000 * o->cpu_ns / (o->elapsed_ns ? o->elapsed_ns : 1);
        on_cpu = share < on_cpu ? share : on_cpu;
        longest = o->elapsed_ns > longest ? o->elapsed_ns : longest;
    }
    fact(s, "other_passes", beside);
    fact(s, "foreign_on_cpu_permille", on_cpu);
    fact(s, "cpus", cpus_used(all));
    return longest;
}

void bystanders_begin(struct slot *s)
{
    if (key_size(s, "running") < 2)
        return;
    if (in_child())
        skip(s, "threads that run beside are of one process");
    others_start(others_open(s));
}

void bystanders_end(struct slot *s)
{
    if (key_size(s, "running") < 2)
        return;
    others_stop(open_others);
    others_ran(s, open_others);
    others_close(open_others);
}

void others_compare(struct slot *s, struct others *all)
{
    uint64_t alone = 0, disturbed_ns = others_ran(s, all);
    others_start(all);
    uint64_t start = now_ns();
    while (now_ns() - start < disturbed_ns)
        ;
    others_stop(all);
    for (unsigned i = 0; i < all->count; i++) {
        struct other *o = &all->each[i];
        uint64_t usual = o->elapsed_ns ? (uint64_t)((__uint128_t)o->passes * disturbed_ns / o->elapsed_ns) : 0;
        alone += usual;
        o->owed = usual > o->owed ? usual - o->owed : 0;
    }
    fact(s, "other_passes_alone", alone);
}

/* The row of /proc/interrupts, all CPUs together; 0 where there is none. */
uint64_t tlb_shootdowns(void)
{
    char word[16];
    unsigned long one;
    uint64_t sum = 0;
    FILE *file = fopen("/proc/interrupts", "re");
    while (file && fscanf(file, " %15s", word) == 1) {
        if (strcmp(word, "TLB:") == 0) {
            while (fscanf(file, "%lu", &one) == 1)
                sum += one;
            break;
        }
        if (fscanf(file, "%*[^\n]") == EOF)
            break;
    }
    if (file)
        fclose(file);
    return sum;
}

bool shootdowns_interrupt(struct slot *s, struct others *all)
{
    enum { CALLS = 256 };
    static bool known, seen;
    if (known || all->count == 0)
        return seen;
    size_t page = s->page_bytes;
    char *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, p);
    uint64_t counted = tlb_shootdowns();
    others_start(all);
    for (int i = 0; i < CALLS; i++) {
        *(volatile char *)p = (char)(s->seed | 1);
        if (mprotect(p, page, PROT_READ) != 0 || mprotect(p, page, PROT_READ | PROT_WRITE) != 0)
            fail(s, "mprotect");
    }
    others_stop(all);
    seen = tlb_shootdowns() - counted >= CALLS / 2;
    known = true;
    munmap(p, page);
    return seen;
}
