/* Memory taken away by calls, with threads that run beside or without any; written from the question alone, see README.md. */
#include "truth.h"
#include <pthread.h>

static size_t bytes, chunk;
static int asleep, others;
static atomic_int stop, there, woken;
static int wake[2];

/* A program that uses memory of its own. */
static void *run_beside(void *cpu)
{
    run_on((int)(intptr_t)cpu);
    volatile char *mine = anonymous(32 * 4096, 0);
    atomic_fetch_add(&there, 1);
    for (char byte; asleep && read(wake[0], &byte, 1) == 1;) {
        for (int i = 0; i < 32; i++)
            mine[i * 4096]++;
        atomic_fetch_add(&woken, 1);
    }
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        for (int i = 0; i < 32; i++)
            mine[i * 4096]++;
    return NULL;
}

/* Memory whose page tables hold nothing else: they go with it, and the kernel then interrupts CPUs that sleep, too. */
static char *apart(void)
{
    char *p = anonymous(bytes + 2 * HUGE, 0) + HUGE;
    munmap(p - HUGE, bytes + 2 * HUGE);
    if (mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != p)
        die("mmap");
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

/* The other threads run, and have been asleep for a millisecond. */
static void rest(int others)
{
    static int wanted;
    wanted += others;
    for (int i = 0; i < others; i++)
        if (write(wake[1], "", 1) != 1)
            die("write");
    double start;
    for (start = now(); atomic_load(&woken) < wanted;)
        ;
    while (now() - start < 1e6)
        ;
}

static double once(const char *way)
{
    char *p = apart();
    memset(p, 1, bytes);
    if (asleep)
        rest(others);
    double start = now();
    for (size_t at = 0; at < bytes; at += chunk)
        if (is(way, "munmap") ? munmap(p + at, chunk) : madvise(p + at, chunk, MADV_DONTNEED))
            die(way);
    double spent = now() - start;
    if (!is(way, "munmap"))
        munmap(p, bytes);
    return spent / (bytes / chunk);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return fprintf(stderr, "usage: unmap BYTES CHUNK RUNNING running|asleep munmap|dontneed…\n"), 2;
    bytes = strtoul(argv[1], NULL, 10);
    chunk = strtoul(argv[2], NULL, 10);
    int running = atoi(argv[3]);
    others = running - 1;
    if (pipe(wake))
        die("pipe");
    asleep = is(argv[4], "asleep");
    pthread_t thread;
    for (int i = 1; i < running; i++)
        pthread_create(&thread, NULL, run_beside, (void *)(intptr_t)(i - 1));
    run_on(running - 1);
    while (atomic_load(&there) < running - 1)
        sched_yield();
    take_turns(argv + 5, argc - 5, 301, once);
    atomic_store(&stop, 1);
}
