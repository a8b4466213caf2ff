/* A block through a small ring of shared memory. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- */
enum { CHUNK = 256 * 1024, CHUNKS = 4 };

/* In memory that both have mapped: MAP_SHARED of a memfd, or anonymous before fork. */
struct ring {
    _Alignas(64) _Atomic size_t given; /* chunks so far */
    _Alignas(64) _Atomic size_t taken;
    _Alignas(64) char bytes[CHUNKS][CHUNK];
};

/* The sender. */
static void give(struct ring *r, const char *block, size_t bytes)
{
    for (size_t n = 0, at = 0; at < bytes; n++, at += CHUNK) {
        while (n - atomic_load_explicit(&r->taken, memory_order_acquire) == CHUNKS)
            sched_yield();
        memcpy(r->bytes[n % CHUNKS], block + at, bytes - at < CHUNK ? bytes - at : CHUNK);
        atomic_store_explicit(&r->given, n + 1, memory_order_release);
    }
}

/* The receiver. */
static void take(struct ring *r, char *block, size_t bytes)
{
    for (size_t n = 0, at = 0; at < bytes; n++, at += CHUNK) {
        while (atomic_load_explicit(&r->given, memory_order_acquire) == n)
            sched_yield();
        memcpy(block + at, r->bytes[n % CHUNKS], bytes - at < CHUNK ? bytes - at : CHUNK);
        atomic_store_explicit(&r->taken, n + 1, memory_order_release);
    }
}
/* --- */

static void fill(unsigned char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (unsigned char)(i * 7 + i / 251);
}

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    unsigned char *mine = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    if (bytes == 0 || mine == NULL || wanted == NULL)
        return 1;
    fill(wanted, bytes);
    struct ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        fill(mine, bytes);
        give(ring, (char *)mine, bytes);
        _exit(0);
    }
    take(ring, (char *)mine, bytes);
    int status = 1;
    waitpid(child, &status, 0);
    printf("%zu\n", bytes);
    return status != 0 || memcmp(mine, wanted, bytes) != 0;
}
