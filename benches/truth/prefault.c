/* Memory made resident by some threads, perhaps pinned; written from the question alone, see README.md. */
#include "truth.h"
#include <pthread.h>

static size_t bytes;
static int threads, locked;
static const char *way;
static char *place;

/* Waits, runs on a CPU of its own, does its part. */
static atomic_int waiting, go, done;

static void part(int number)
{
    size_t share = (bytes / threads + HUGE - 1) / HUGE * HUGE, from = number * share;
    size_t size = from >= bytes ? 0 : bytes - from < share ? bytes - from : share;
    char *p = place + from;
    if (strstr(way, "touch"))
        for (size_t i = 0; i < size; i += 4096)
            ((volatile char *)p)[i] = 1;
    else if (strstr(way, "memset"))
        memset(p, 0, size);
    else if (strstr(way, "write") && size && madvise(p, size, MADV_POPULATE_WRITE))
        die("MADV_POPULATE_WRITE");
    if (locked && size && mlock(p, size))
        die("mlock");
}

static void *helper(void *number)
{
    int me = (int)(intptr_t)number;
    run_on(me);
    atomic_fetch_add(&waiting, 1);
    while (!go)
        ;
    part(me);
    atomic_fetch_add(&done, 1);
    return NULL;
}

static double once(const char *w)
{
    way = w;
    int huge = !strncmp(way, "thp", 3), populate = is(way, "populate");
    waiting = go = done = 0;
    pthread_t ids[256];
    for (int i = 1; i < threads; i++)
        if (pthread_create(&ids[i], NULL, helper, (void *)(intptr_t)i))
            die("pthread_create");
    run_on(0);
    while (waiting < threads - 1)
        sched_yield();
    place = anonymous(bytes, huge);
    munmap(place, bytes);
    double start = now();
    char *p = mmap(place, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | (populate ? MAP_POPULATE : 0), -1, 0);
    if (p != place)
        die("mmap");
    if (madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
        die("madvise");
    go = 1;
    part(0);
    while (done < threads - 1)
        ;
    double spent = now() - start;
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    munmap(p, bytes);
    return spent / bytes;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fprintf(stderr, "usage: prefault BYTES THREADS no|lock touch|memset|write|populate|thp-touch|thp-write…\n"), 2;
    bytes = strtoul(argv[1], NULL, 10);
    threads = atoi(argv[2]);
    locked = is(argv[3], "lock");
    take_turns(argv + 4, argc - 4, 15, once);
}
