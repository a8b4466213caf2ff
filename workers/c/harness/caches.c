/* Lines of memory that are in no cache when a slot uses it: flushed one by one, or swept out by other data. Never timed. */
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Four times the last cache of this CPU as /sys reports it, from 64 to 512 MiB: after twice as much, a cache that replaces its
 * lines at random has an eighth of what it held (e^-2). */
static size_t sweep_bytes(void)
{
    unsigned long kib = 0;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "re");
    if (file && fscanf(file, "%luK", &kib) != 1)
        kib = 0;
    if (file)
        fclose(file);
    size_t bytes = (size_t)kib * 4096;
    return bytes < 64ul << 20 ? 64ul << 20 : bytes > MOST_SWEPT_BYTES ? MOST_SWEPT_BYTES : bytes;
}

static char *swept_memory(struct slot *s, size_t bytes)
{
    int fd = kept_file(0);
    if (fd < 0) {
        char *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check_map(s, own);
        (void)madvise(own, bytes, MADV_HUGEPAGE); /* huge pages are there, and gone through, sooner */
        return own;
    }
    char *kept = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    check_map(s, kept);
    close(fd);
    (void)madvise(kept, bytes, MADV_POPULATE_WRITE);
    (void)madvise(kept, bytes, MADV_COLLAPSE);
    return kept;
}

static void sweep(struct slot *s)
{
    static char *swept;
    static size_t bytes;
    enum { LINE = 64 };
    if (!swept)
        swept = swept_memory(s, bytes = sweep_bytes());
    for (size_t at = 0; at < bytes; at += LINE)
        swept[at]++;
    fact(s, "swept_bytes", bytes);
    fact(s, "flushed_bytes", 0);
}

/* What this CPU flushes at once, and by which instruction; 0 where it has none that a program may use. */
static size_t line_bytes;
static bool unordered; /* clflushopt, which does not wait for the line before */

static size_t flushable_line(void)
{
    static bool asked;
    if (asked)
        return line_bytes;
    asked = true;
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) && d & 1u << 19)
        line_bytes = (b >> 8 & 0xff) * 8;
    unordered = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 23;
#elif defined(__aarch64__)
    uint64_t type;
    __asm__("mrs %0, ctr_el0" : "=r"(type)); /* Linux lets programs read it, and flush */
    line_bytes = 4ul << (type >> 16 & 15);
#endif
    return line_bytes;
}

static void flush_lines(const char *start, size_t bytes)
{
    size_t line = flushable_line();
    uintptr_t at = (uintptr_t)start & -line, end = (uintptr_t)start + bytes;
#if defined(__x86_64__)
    for (; unordered && at < end; at += line)
        __asm__ volatile("clflushopt (%0)" : : "r"(at) : "memory");
    for (; at < end; at += line)
        __asm__ volatile("clflush (%0)" : : "r"(at) : "memory");
    __asm__ volatile("mfence" : : : "memory");
#elif defined(__aarch64__)
    for (; at < end; at += line)
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb sy" : : : "memory");
#else
    (void)at, (void)end;
#endif
}

/* Lines of the range's end, one a page where there are as many, read in an order that no prefetcher knows, each after the one
 * before: nanoseconds of all. Their translations are at hand: the end was flushed last. */
enum { PROBED = 64 };
static uint64_t probe(const struct slot *s, const char *start, size_t bytes)
{
    size_t lines = bytes / line_bytes, apart = s->page_bytes / line_bytes;
    uint64_t begun = now_ns(), value = 0;
    if (lines < PROBED * apart)
        apart = 1;
    for (size_t i = 0; i < PROBED && i < lines; i++) {
        size_t nth = i * 37 % PROBED; /* every one once */
        size_t line = nth * apart + (apart > 1 ? nth * 29 % apart : 0);
        value = *(const volatile unsigned char *)(start + bytes - 1 - line % lines * line_bytes - value);
        __asm__ volatile("" : "+r"(value));
        value >>= 8; /* nothing is left of it but the waiting */
    }
    return now_ns() - begun;
}

/* What reading a few of the flushed lines takes, and once more, when they have come: the best of three. */
static void flushed_proof(struct slot *s, const char *start, size_t bytes)
{
    if (!s->proofs)
        return;
    uint64_t flushed = probe(s, start, bytes), best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t spent = probe(s, start, bytes);
        best = spent < best ? spent : best;
    }
    fact(s, "flushed_lines_ns", flushed);
    fact(s, "cached_lines_ns", best);
    size_t end = bytes < PROBED * s->page_bytes ? bytes : PROBED * s->page_bytes;
    flush_lines(start + bytes - end, end);
}

/* The frames that were flushed and given back, by their numbers, which only the administrator sees: a table of twice as many
 * places. */
static struct {
    uint64_t *places;
    size_t count, room;
} flushed;

static uint64_t *frame_place(uint64_t frame)
{
    size_t at = (size_t)(frame * 0x9E3779B97F4A7C15u >> 20) & (flushed.count - 1);
    while (flushed.places[at] && flushed.places[at] != frame)
        at = (at + 1) & (flushed.count - 1);
    return &flushed.places[at];
}

/* Calls `use` for the number of each frame behind the range, as far as they can be seen; returns how many could. */
static size_t each_frame(struct slot *s, const char *start, size_t bytes, bool (*use)(uint64_t), size_t *used)
{
    uint64_t entries[512], present = 1ul << 63, number = (1ul << 55) - 1;
    size_t page = (uintptr_t)start / s->page_bytes, end = page + bytes / s->page_bytes, seen = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    while (fd >= 0 && page < end && got > 0) {
        size_t want = end - page < 512 ? end - page : 512;
        got = pread(fd, entries, want * sizeof *entries, (off_t)(page * sizeof *entries));
        for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *entries; i++, page++)
            if (entries[i] & present && entries[i] & number) {
                seen++;
                *used += use(entries[i] & number);
            }
    }
    if (fd >= 0)
        close(fd);
    return seen;
}

static bool note_frame(uint64_t frame)
{
    *frame_place(frame) = frame;
    return true;
}

static bool is_foreign(uint64_t frame)
{
    return *frame_place(frame) != frame;
}

static void note_frames(struct slot *s, const char *start, size_t bytes)
{
    size_t pages = bytes / s->page_bytes, noted = 0;
    if (!s->proofs)
        return;
    for (flushed.count = 1; flushed.count < 2 * pages;)
        flushed.count *= 2;
    if (flushed.room < flushed.count) {
        flushed.room = flushed.count;
        flushed.places = mmap(NULL, flushed.room * sizeof *flushed.places, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check_map(s, flushed.places);
    }
    memset(flushed.places, 0, flushed.count * sizeof *flushed.places);
    each_frame(s, start, bytes, note_frame, &noted);
}

/* False where there is no such memory, as when the pool of huge pages is empty: then the method will say so. */
static bool flush_frames(struct slot *s, size_t bytes, int flags, int advice)
{
    int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags;
    char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (p == MAP_FAILED)
        return false;
    (void)madvise(p, bytes, advice);
    for (size_t at = 0; at < bytes; at += s->page_bytes)
        ((volatile char *)p)[at] = 1;
    note_frames(s, p, bytes);
    flush_lines(p, bytes);
    flushed_proof(s, p, bytes);
    munmap(p, bytes);
    state_renew(); /* as in backing_before() */
    return true;
}

/* Several threads take frames from the free lists of several CPUs, and a host that takes idle frames back gives others. */
static bool same_frames_come(const struct slot *s)
{
    return s->threads == 1 && !key_is(s, "backing", "cold");
}

static bool flushes(const struct slot *s)
{
    return key_is(s, "frames", "memory") && flushable_line();
}

static void flushed_facts(struct slot *s, size_t bytes)
{
    fact(s, "swept_bytes", 0);
    fact(s, "flushed_bytes", bytes);
}

void frames_before(struct slot *s, size_t bytes, int flags, int advice)
{
    flushed.count = 0;
    if (flushes(s) && same_frames_come(s) && flush_frames(s, bytes, flags, advice))
        flushed_facts(s, bytes);
    else if (key_is(s, "frames", "memory") || key_is(s, "frames", "swept"))
        sweep(s);
}

void frames_proofs(struct slot *s, const char *start, size_t bytes)
{
    size_t foreign = 0;
    if (!flushed.count)
        return;
    fact(s, "frames_seen", each_frame(s, start, bytes, is_foreign, &foreign));
    fact(s, "foreign_frames", foreign);
}

bool blocks_flush(struct slot *s, const char *block, size_t bytes)
{
    if (!flushes(s))
        return false;
    flush_lines(block, bytes);
    return true;
}

void blocks_before(struct slot *s, const char *a, const char *b, size_t bytes)
{
    if (blocks_flush(s, a, bytes)) {
        if (b)
            flush_lines(b, bytes);
        flushed_proof(s, a, bytes);
        flushed_facts(s, b ? 2 * bytes : bytes);
    } else if (key_is(s, "frames", "memory") || key_is(s, "frames", "swept"))
        sweep(s);
}
