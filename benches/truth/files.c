/* A cached file read, mapped, or handed to another process's memory, by the call that brought it into the page cache;
 * written from the question alone, see README.md. */
#include "pair.h"
#include <sys/sendfile.h>
#include <sys/socket.h>

#define CHUNK (256ul << 10)
#define ROUNDS 31
static size_t bytes;
static char *scratch, *target;
static int file;
static const char *path;

struct exchange {
    atomic_uint start, ready, put, taken;
    char pad[4096 - 16];
    char ring[4][CHUNK];
};
static struct exchange *sh;

static void evict(void)
{
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static void load(const char *how)
{
    evict();
    if (is(how, "written")) {
        int f = open(path, O_WRONLY | O_TRUNC);
        for (size_t at = 0; at < bytes; at += 128 << 10)
            if (write(f, scratch, 128 << 10) != 128 << 10)
                die("write");
        fdatasync(f);
        close(f);
    } else if (is(how, "mapped")) {
        volatile char *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
        for (size_t at = 0; at < bytes; at += 4096)
            (void)p[at];
        munmap((void *)p, bytes);
    } else {
        for (size_t at = 0; at < bytes; at += 128 << 10)
            if (pread(file, scratch, 128 << 10, at) < 0)
                die("pread");
    }
}

static uint64_t sum(const void *from, size_t size)
{
    const uint64_t *w = from;
    uint64_t s = 0;
    for (size_t i = 0; i < size / 8; i++)
        s += w[i];
    return s;
}

static volatile uint64_t kept;

static double by_read(size_t chunk)
{
    double start = now();
    uint64_t s = 0;
    int f = open(path, O_RDONLY);
    ssize_t got;
    while ((got = read(f, scratch, chunk)) > 0)
        s += sum(scratch, got);
    close(f);
    kept = s;
    return now() - start;
}

static double by_mmap(int flags)
{
    double start = now();
    int f = open(path, O_RDONLY);
    char *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED | flags, f, 0);
    kept = sum(p, bytes);
    munmap(p, bytes);
    close(f);
    return now() - start;
}

static void send_all(const char *way, int out)
{
    off_t offset = 0;
    ssize_t got = 1;
    if (is(way, "splice"))
        while (splice(file, &offset, out, NULL, CHUNK, 0) > 0)
            ;
    else if (is(way, "sendfile"))
        while (sendfile(out, file, &offset, CHUNK) > 0)
            ;
    else if (is(way, "pipe"))
        for (; (got = pread(file, scratch, CHUNK, offset)) > 0; offset += got)
            for (ssize_t at = 0, put; at < got; at += put)
                if ((put = write(out, scratch + at, got - at)) <= 0)
                    die("write");
    if (!is(way, "ring"))
        return;
    for (unsigned n = 0; n < bytes / CHUNK; n++) {
        while (n - atomic_load(&sh->taken) >= 4)
            ;
        if (pread(file, sh->ring[n % 4], CHUNK, n * CHUNK) != (ssize_t)CHUNK)
            die("pread");
        atomic_store(&sh->put, n + 1);
    }
}

static void send_always(const char *way, int wake, int out)
{
    char token;
    run_on(1);
    memset(scratch, 1, CHUNK);
    memset(sh->ring, 1, sizeof sh->ring);
    while (read(wake, &token, 1) == 1) {
        atomic_store(&sh->ready, 1);
        while (!atomic_load(&sh->start))
            ;
        send_all(way, out);
    }
    _exit(0);
}

static void channel(const char *way, int ends[2])
{
    if (is(way, "sendfile") ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends)
                            : pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0)
        die("pipe");
}

/* The receiver's memory is resident. */
static double hand_over(const char *way)
{
    struct pair *pair = pair_of(way, channel, send_always);
    memset((void *)sh, 0, 4096);
    if (write(pair->wake, "", 1) != 1)
        die("wake");
    while (!atomic_load(&sh->ready))
        ;
    double start = now();
    atomic_store(&sh->start, 1);
    if (is(way, "ring"))
        for (unsigned n = 0; n < bytes / CHUNK; n++) {
            while (atomic_load(&sh->put) <= n)
                ;
            memcpy(target + n * CHUNK, sh->ring[n % 4], CHUNK);
            atomic_store(&sh->taken, n + 1);
        }
    else
        for (size_t at = 0; at < bytes;) {
            ssize_t got = read(pair->in, target + at, bytes - at < CHUNK ? bytes - at : CHUNK);
            if (got <= 0)
                die("read");
            at += got;
        }
    return now() - start;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fprintf(stderr, "usage: files FILE BYTES hot|written|mapped|cold WAY…\n"), 2;
    path = argv[1];
    bytes = strtoull(argv[2], NULL, 10);
    int ways = argc - 4, cold = is(argv[3], "cold");
    run_on(0);
    double ns[16][ROUNDS];
    scratch = aligned_alloc(4096, 1 << 20);
    memset(scratch, 5, 1 << 20);
    target = received(bytes);
    sh = (struct exchange *)shared(sizeof *sh);
    file = open(path, O_RDWR | O_CREAT, 0600);
    for (size_t at = 0; at < bytes; at += 128 << 10)
        if (pwrite(file, scratch, 128 << 10, at) < 0)
            die("pwrite");
    if (!cold)
        load(argv[3]);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < ways; i++) {
            if (cold)
                evict();
            int w = (i + r) % ways;
            const char *way = argv[4 + w];
            ns[w][r] = is(way, "read")        ? by_read(64 << 10)
                       : is(way, "mmap")      ? by_mmap(0)
                       : is(way, "populate")  ? by_mmap(MAP_POPULATE)
                                                   : hand_over(way);
        }
    for (int w = 0; w < ways; w++) {
        qsort(ns[w], ROUNDS, sizeof(double), by_value);
        printf("%s %.0f %.0f\n", argv[4 + w], ns[w][ROUNDS / 2], ns[w][ROUNDS / 4]);
    }
    unlink(path);
}
