/* What the methods of guard pages share: where they lie, the touch between them, the proofs. One page in sixteen is a guard. */
#ifndef PAGEWISE_FAULT_GUARD_H
#define PAGEWISE_FAULT_GUARD_H
#include "kinds.h"
#include <fcntl.h>
#include <stdio.h>

enum { GUARD_EVERY = 16 };
#define GUARDS "(bytes / page_bytes / 16)"
/* The kernel does not write into a guard, does so into all other pages, and into all of them once the guards are taken away. */
#define GUARD_LAWS                                                                                                     \
    NOTHING_BEFORE "; failed_calls == 0; refused_guards == " GUARDS "; refused_after == 0; advise.minor_faults == 0; "      \
    "first-touch.minor_faults == bytes / page_bytes - " GUARDS "; "                                                    \
    "first-touch.rss_bytes == (bytes / page_bytes - " GUARDS ") * page_bytes; advise.ops == " GUARDS "; huge_bytes == 0"

__attribute__((unused)) static void touch_between(const struct part *part)
{
    volatile char *p = part->start;
    size_t bytes = part->bytes, page = part->page_bytes;
    char mark = part->mark;
    for (size_t i = 0; i < bytes; i += page)
        if (i / page % GUARD_EVERY != GUARD_EVERY - 1)
            p[i] = mark;
}

/* Pages of the guards' places into which read(2) does not write. */
static inline uint64_t refused_guards(struct slot *s, char *p)
{
    uint64_t refused = 0;
    size_t every = GUARD_EVERY * s->page_bytes;
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zeros < 0)
        fail(s, "open /dev/zero");
    for (size_t i = every; s->proofs && i <= s->bytes; i += every)
        refused += read(zeros, p + i - s->page_bytes, 1) < 0 && errno == EFAULT;
    close(zeros);
    return refused;
}

/* How many mappings the kernel keeps for the range. */
static inline uint64_t mappings_of(struct slot *s, const char *p)
{
    char line[512];
    unsigned long from;
    uint64_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        fail(s, "open /proc/self/maps");
    while (fgets(line, sizeof line, maps))
        count += sscanf(line, "%lx-", &from) == 1 && from >= (uintptr_t)p && from < (uintptr_t)p + s->bytes;
    fclose(maps);
    return count;
}

/* Phases from map to unmap. `make` and `remove` make and take away the guards and say how many calls failed. Inlined, so that
 * the clock covers the method's calls only. */
__attribute__((always_inline)) static inline void guard_run(struct slot *s, size_t (*make)(char *, size_t, size_t),
                                                            size_t (*remove)(char *, size_t, size_t), const char *call,
                                                            const char *lacking)
{
    fault_begin(s);
    size_t bytes = s->bytes, page = s->page_bytes, failed = 0;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    check_done(s, madvise(p, bytes, MADV_NOHUGEPAGE) != 0 && errno != EINVAL, "madvise");
    s->ops = bytes / page / GUARD_EVERY;
    PHASE(s, "advise") { failed = make(p, bytes, page); }
    if (failed && errno == EINVAL)
        skip(s, lacking);
    if (failed && errno == ENOMEM)
        skip(s, refused(call, "more guards than mappings that a process may have? raise vm.max_map_count"));
    check_done(s, failed > 0, call);
    fact(s, "mappings", s->proofs ? mappings_of(s, p) : 0);
    s->ops = bytes / page - s->ops;
    PHASE(s, "first-touch") { touch_between(&(struct part){p, bytes, page, page_mark(s)}); }
    fault_proofs(s, p);
    fact(s, "refused_guards", refused_guards(s, p));
    s->ops = bytes / page / GUARD_EVERY;
    PHASE(s, "release") { failed = remove(p, bytes, page); }
    check_done(s, failed > 0, call);
    fact(s, "failed_calls", failed);
    fact(s, "refused_after", refused_guards(s, p));
    touch_pages(&(struct part){p, bytes, page, page_mark(s)});
    fact_digest(s, p, bytes);
    s->ops = bytes / page;
    kind_unmap(s, p);
}
#endif
