/* Preloaded into a worker whose launch is counted and not timed: its allocations, and the bytes of its calls of memcpy(3) and
 * memmove(3), are added up in memory that the worker reads (harness/counts.h). The worker's own allocator does the work. */
#include "counts.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct counts nowhere, *counts = &nowhere;

__attribute__((constructor)) static void share(void)
{
    const char *fd = getenv(COUNTS_VARIABLE);
    void *shared = fd ? mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;
    if (shared == MAP_FAILED)
        return;
    counts = shared;
    counts->preloaded = 1;
}

static void add(int column, uint64_t number)
{
    __atomic_fetch_add(&counts->count[column], number, __ATOMIC_RELAXED);
}

static void allocated(size_t bytes)
{
    add(COUNT_ALLOCATIONS, 1);
    add(COUNT_ALLOCATED, bytes);
}

/* Looking for the next function may itself allocate (glibc before 2.34): from here, and never given back. */
static char early[16384];
static size_t early_used;
static bool is_looking;

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

static void *of_early(size_t bytes)
{
    size_t at = early_used;
    early_used += (bytes + 15) & ~(size_t)15;
    return early_used <= sizeof early ? early + at : NULL;
}

static void *next(const char *name)
{
    is_looking = true;
    void *found = dlsym(RTLD_NEXT, name);
    is_looking = false;
    return found;
}

#define FIND(name)                                                                                                     \
    do {                                                                                                               \
        if (!next_##name)                                                                                              \
            next_##name = next(#name);                                                                                 \
    } while (0)

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t), *(*next_memalign)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static void (*next_free)(void *);
static void *(*next_memcpy)(void *, const void *, size_t), *(*next_memmove)(void *, const void *, size_t);

void *malloc(size_t bytes)
{
    if (is_looking)
        return of_early(bytes);
    allocated(bytes);
    FIND(malloc);
    return next_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    if (is_looking)
        return of_early(count * bytes);
    allocated(count * bytes);
    FIND(calloc);
    return next_calloc(count, bytes);
}

void *realloc(void *p, size_t bytes)
{
    allocated(bytes);
    FIND(realloc);
    return next_realloc(p, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    allocated(bytes);
    FIND(aligned_alloc);
    return next_aligned_alloc(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    allocated(bytes);
    FIND(memalign);
    return next_memalign(alignment, bytes);
}

int posix_memalign(void **into, size_t alignment, size_t bytes)
{
    allocated(bytes);
    FIND(posix_memalign);
    return next_posix_memalign(into, alignment, bytes);
}

void free(void *p)
{
    FIND(free);
    if (!is_early(p))
        next_free(p);
}

/* One byte after another; `volatile` keeps the compiler from making a call of memcpy() out of it. */
static void *slowly(void *to, const void *from, size_t bytes)
{
    volatile char *into = to;
    const volatile char *of = from;
    bool backwards = (const char *)to > (const char *)from;
    for (size_t i = 0; i < bytes; i++) {
        size_t at = backwards ? bytes - 1 - i : i;
        into[at] = of[at];
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    add(COUNT_COPIED, bytes);
    if (is_looking)
        return slowly(to, from, bytes);
    FIND(memcpy);
    return next_memcpy(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes)
{
    add(COUNT_COPIED, bytes);
    if (is_looking)
        return slowly(to, from, bytes);
    FIND(memmove);
    return next_memmove(to, from, bytes);
}
