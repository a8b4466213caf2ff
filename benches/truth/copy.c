/* A block copied within one process; written from the question alone, see README.md. */
#include "truth.h"
#include <pthread.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define THRESHOLD "1048576"
static size_t bytes, copies;
static int memory;
static char *from, *to, *others;
#define OTHERS (512ul << 20) /* more than the last cache of a large processor */

#if defined(__x86_64__)
__attribute__((target("avx"))) static void stream(char *to, const char *from, size_t size)
{
    for (size_t i = 0; i < size; i += 32)
        _mm256_stream_si256((__m256i *)(to + i), _mm256_loadu_si256((const __m256i *)(from + i)));
    _mm_sfence();
}

static void string(char *to, const char *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}
#else
#define stream memcpy
#define string memcpy
#endif

/* A second thread that copies the upper half: asleep between copies, spinning, or created for each. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked_for = PTHREAD_COND_INITIALIZER;
/* Each on lines of its own: nobody waits for a line that another reads or writes for something else. */
static _Alignas(128) atomic_uint asked;
static _Alignas(128) atomic_uint done;
static _Alignas(128) int spinning, waiting;

/* What a loop does that waits for another CPU. */
static void relax(void)
{
#if defined(__x86_64__)
    _mm_pause();
#endif
}

static void upper_half(void)
{
    memcpy(to + bytes / 2, from + bytes / 2, bytes - bytes / 2);
}

static void *created(void *unused)
{
    upper_half();
    return unused;
}

static void *helper(void *unused)
{
    for (unsigned turn = 1;; turn++) {
        if (!spinning) {
            pthread_mutex_lock(&lock);
            waiting = 1;
            while (asked < turn)
                pthread_cond_wait(&asked_for, &lock);
            waiting = 0;
            pthread_mutex_unlock(&lock);
        }
        while (atomic_load_explicit(&asked, memory_order_acquire) < turn)
            relax();
        upper_half();
        atomic_store_explicit(&done, turn, memory_order_release);
    }
    return unused;
}

static void by_two(const char *way)
{
    pthread_t thread;
    if (is(way, "created")) {
        pthread_create(&thread, NULL, created, NULL);
        memcpy(to, from, bytes / 2);
        pthread_join(thread, NULL);
        return;
    }
    if (!spinning)
        pthread_mutex_lock(&lock);
    unsigned turn = atomic_fetch_add(&asked, 1) + 1;
    if (!spinning) {
        pthread_cond_signal(&asked_for);
        pthread_mutex_unlock(&lock);
    }
    memcpy(to, from, bytes / 2);
    while (atomic_load_explicit(&done, memory_order_acquire) < turn)
        relax();
}

/* Until the helper waits, and 50 µs more, in which it falls asleep. */
static void rest(void)
{
    for (int resting = 0; !resting;) {
        pthread_mutex_lock(&lock);
        resting = waiting;
        pthread_mutex_unlock(&lock);
    }
    for (double end = now() + 50000; now() < end;)
        ;
}

static double all_copies(const char *way)
{
    double start = now();
    for (size_t i = 0; i < copies; i++) {
        from[i % bytes] ^= 1; /* another content each time */
        if (is(way, "asleep")) {
            double pause = now();
            rest();
            start += now() - pause;
        }
        if (is(way, "memcpy"))
            memcpy(to, from, bytes);
        else if (is(way, "streaming"))
            stream(to, from, bytes);
        else if (is(way, "rep-movsb"))
            string(to, from, bytes);
        else
            by_two(way);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    double spent = now() - start;
    if (memcmp(to, from, bytes))
        exit(printf("%s: wrong content\n", way));
    return spent / (copies * bytes);
}

/* The same program started with the C library's threshold for non-temporal stores set. */
static double tuned(void)
{
    char command[256];
    double ns = 0;
    snprintf(command, sizeof command,
             "GLIBC_TUNABLES=glibc.cpu.x86_non_temporal_threshold=" THRESHOLD " /proc/%d/exe %zu %s alone", getpid(), bytes,
             memory ? "memory" : "cached");
    FILE *answer = popen(command, "r");
    if (!answer || fscanf(answer, "%*s %lf", &ns) != 1 || pclose(answer))
        die("tuned");
    return ns;
}

static double once(const char *way)
{
    static pthread_t thread;
    if (is(way, "tuned"))
        return tuned();
    if ((is(way, "asleep") || is(way, "spinning")) && !thread) {
        spinning = is(way, "spinning");
        pthread_create(&thread, NULL, helper, NULL);
    }
    if (memory)
        memset(others, memory++, OTHERS);
    return all_copies(is(way, "alone") ? "memcpy" : way);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: copy BYTES cached|memory memcpy|streaming|rep-movsb|tuned|asleep|spinning|created…\n"), 2;
    bytes = strtoul(argv[1], NULL, 10);
    memory = is(argv[2], "memory");
    /* A copy pays for writing back what the one before left dirty: with a single copy a sample, the comparison would. */
    copies = memory ? 1 : bytes > 1 << 20 ? 8 : (1 << 20) / bytes;
    from = anonymous(bytes, 0);
    to = anonymous(bytes, 0);
    others = anonymous(OTHERS, 0);
    memset(from, 5, bytes);
    memset(to, 6, bytes);
    take_turns(argv + 3, argc - 3, is(argv[3], "alone") ? 5 : 41, once);
}
