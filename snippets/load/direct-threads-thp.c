/* The file is read past the page cache by eight threads, into huge pages. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- */
struct part {
    const char *path;
    char *to;
    size_t from, end; /* multiples of 4096; so must be the file's size, or the rest is read without O_DIRECT */
};

static void *read_part(void *argument)
{
    struct part *part = argument;
    int file = open(part->path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    for (size_t at = part->from; at < part->end;) {
        size_t want = part->end - at < 1 << 20 ? part->end - at : 1 << 20;
        ssize_t got = pread(file, part->to + at, want, (off_t)at);
        if (got <= 0)
            return NULL; /* not even begun where the file system refuses O_DIRECT */
        at += (size_t)got;
    }
    close(file);
    return part;
}

static const char *loaded(const char *path, size_t bytes)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    struct part parts[THREADS];
    size_t share = (bytes / THREADS + 4095) / 4096 * 4096;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < THREADS; i++) {
        size_t from = i * share < bytes ? i * share : bytes, end = from + share < bytes ? from + share : bytes;
        parts[i] = (struct part){path, p, from, end};
        if (pthread_create(&threads[i], NULL, read_part, &parts[i]) != 0)
            return NULL;
    }
    int failed = 0;
    for (size_t i = 0; i < THREADS; i++) {
        void *done = NULL;
        pthread_join(threads[i], &done);
        failed |= done == NULL;
    }
    return failed ? NULL : p;
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 65536 * 65536 : 0;
    char path[] = "loaded-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (pwrite(file, &at, sizeof at, (off_t)at) != sizeof at)
            return 1;
    close(file);
    const char *p = loaded(path, bytes);
    unlink(path);
    if (p == NULL)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        if (*(const size_t *)(p + at) != at)
            return 1;
    printf("%zu\n", bytes);
    return 0;
}
