/* A block of one process that another ends with a copy of; written from the question alone, see README.md. */
#include "pair.h"
#include <sys/uio.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CHUNK (256ul << 10)
static size_t bytes;
static char *source, *target;

static struct shared_part {
    atomic_uint ready, start, finished;
    char pad[256 - 12];
    atomic_uint put;
    char pad2[256 - 4];
    atomic_uint taken;
    char pad3[4096 - 520];
    unsigned turn;
    char chunks[4][CHUNK];
} *sh;

#if defined(__x86_64__)
__attribute__((target("avx"))) static void stream(char *to, const char *from, size_t size)
{
    for (size_t i = 0; i < size; i += 32)
        _mm256_stream_si256((__m256i *)(to + i), _mm256_loadu_si256((const __m256i *)(from + i)));
    _mm_sfence();
}
#else
#define stream memcpy
#endif

static void wait_for(atomic_uint *word, unsigned at_least)
{
    while (atomic_load_explicit(word, memory_order_acquire) < at_least)
        ;
}

static void send_all(const char *way, int out)
{
    for (size_t at = 0; at < bytes && !is(way, "readv");) {
        size_t part = bytes - at < CHUNK ? bytes - at : CHUNK;
        ssize_t put = part;
        if (is(way, "pipe"))
            put = write(out, source + at, part);
        else if (is(way, "vmsplice"))
            put = vmsplice(out, &(struct iovec){source + at, part}, 1, 0);
        else {
            unsigned n = at / CHUNK;
            wait_for(&sh->taken, n < 4 ? 0 : n - 3);
            memcpy(sh->chunks[n % 4], source + at, part);
            atomic_store_explicit(&sh->put, n + 1, memory_order_release);
        }
        if (put <= 0)
            die(way);
        at += put;
    }
}

static void receive_all(const char *way, int in, pid_t sender)
{
    for (size_t at = 0; at < bytes;) {
        size_t part = bytes - at < CHUNK ? bytes - at : CHUNK;
        ssize_t got = part;
        if (is(way, "pipe"))
            got = read(in, target + at, part);
        else if (is(way, "vmsplice"))
            got = vmsplice(in, &(struct iovec){target + at, part}, 1, 0);
        else if (is(way, "readv"))
            got = process_vm_readv(sender, &(struct iovec){target, bytes}, 1, &(struct iovec){source, bytes}, 1, 0);
        else {
            unsigned n = at / CHUNK;
            wait_for(&sh->put, n + 1);
            if (is(way, "ring"))
                stream(target + at, sh->chunks[n % 4], part);
            else
                memcpy(target + at, sh->chunks[n % 4], part);
            atomic_store_explicit(&sh->taken, n + 1, memory_order_release);
        }
        if (got <= 0)
            die(way);
        at += got;
    }
}

/* The block is ready before each transfer. */
static void send_always(const char *way, int wake, int out)
{
    char token;
    run_on(1);
    source = anonymous(bytes, 0);
    memset(sh->chunks, 1, sizeof sh->chunks);
    /* The receiver reads it by address. */
    memcpy(sh->pad, &source, sizeof source);
    while (read(wake, &token, 1) == 1) {
        for (size_t i = 0; i < bytes / 8; i++)
            ((uint64_t *)source)[i] = (i + sh->turn) * 0x9E3779B97F4A7C15u;
        /* By numbers of turns: flags that are reset would be missed by a side that was not running meanwhile. */
        unsigned turn = sh->turn;
        atomic_store(&sh->ready, turn);
        wait_for(&sh->start, turn);
        send_all(way, out);
        wait_for(&sh->finished, turn);
    }
    _exit(0);
}

static void channel(const char *way, int ends[2])
{
    if (pipe(ends) || (is(way, "vmsplice") && fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0))
        die("pipe");
}

static double once(const char *way)
{
    struct pair *pair = pair_of(way, channel, send_always);
    sh->turn++;
    atomic_store(&sh->put, 0);
    atomic_store(&sh->taken, 0);
    if (write(pair->wake, "", 1) != 1)
        die("wake");
    wait_for(&sh->ready, sh->turn);
    memcpy(&source, sh->pad, sizeof source);
    double start = now();
    atomic_store(&sh->start, sh->turn);
    receive_all(way, pair->in, pair->sender);
    double spent = now() - start;
    atomic_store(&sh->finished, sh->turn);
    for (size_t i = 0; i < bytes / 8; i++)
        if (((uint64_t *)target)[i] != (i + sh->turn) * 0x9E3779B97F4A7C15u)
            exit(printf("%s: wrong content\n", way));
    return spent / bytes;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "usage: transfer BYTES pipe|ring|ring-cached|vmsplice|readv…\n"), 2;
    bytes = strtoul(argv[1], NULL, 10);
    target = received(bytes);
    sh = (struct shared_part *)shared(sizeof *sh);
    run_on(0);
    take_turns(argv + 2, argc - 2, 21, once);
}
