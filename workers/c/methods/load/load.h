/* Shared by the `load` methods: the file and its cached pages, the records in their order, their uses, and the proofs. */
#ifndef PAGEWISE_LOAD_H
#define PAGEWISE_LOAD_H
#include "methods/output/ring.h"
#include "worker.h"
#include <fcntl.h>

#define LOAD_PHASES "open bring answer first-use second-use drop"
#define LOAD_KEYS                                                                                                      \
    "bytes:size cache:hot|written|mapped|cold order:sequential|random record:size share:count place:folder|tmpfs-huge|ext4|xfs|btrfs " \
    "memory:text"
#define THREADS_OPTION " threads:count"
/* Each use found what the file was made of, and the cache was what `cache` says. */
#define LOAD_LAWS                                                                                                      \
    "wrong_first == 0; wrong_second == 0; cache=hot: cached_before_bytes == bytes; cache=cold: cached_before_bytes == 0; "  \
    "cache=written: cached_before_bytes == bytes; cache=mapped: cached_before_bytes == bytes; "                        \
    "cache=cold: device_bytes >= used_bytes; cache=cold & share=100: device_bytes >= bytes"
/* What was brought stays, unless memory is bounded: the second use asks neither the kernel nor the device. One of
 * some 13,000 samples had three faults all the same, with nothing read from the device; a page that the kernel moves is one. */
#define KEPT_LAWS                                                                                                      \
    LOAD_LAWS "; memory=unbounded: second-use.minor_faults + second-use.major_faults <= 8; "                             \
              "memory=unbounded: second_device_bytes == 0"
#define MAPPED_FILE_LAWS KEPT_LAWS "; anon_bytes == 0"
/* Each fault maps one used page at least, and what lies around it or its folio at most. */
#define USE_FAULTS "answer.minor_faults + answer.major_faults + first-use.minor_faults + first-use.major_faults"
#define LAZY_FILE_LAWS                                                                                                 \
    MAPPED_FILE_LAWS "; memory=unbounded: (" USE_FAULTS ") * fault_piece_bytes >= used_bytes; "                          \
                     "memory=unbounded: " USE_FAULTS " <= bytes / page_bytes + 16"
#define POPULATED_LAWS MAPPED_FILE_LAWS "; memory=unbounded: " USE_FAULTS " == 0"
/* A buffered copy is there before it is used. */
#define COPY_LAWS                                                                                                      \
    KEPT_LAWS "; " USE_FAULTS " == 0; anon_bytes >= bytes"
#define HUGE_COPY_LAWS COPY_LAWS "; huge_bytes + huge_page_bytes >= bytes"
#define LOAD_MEMORY "2 * bytes + bytes / 8"

enum { ANSWER_RECORDS = 64, READ_BYTES = 1 << 20, IN_FLIGHT = 8, BATCH_RECORDS = 16, RING_RECORDS = 32 };

struct load {
    int folder, file, error;
    const char *failed;       /* the first call of a phase that failed, with `error` */
    const char *name;         /* in the folder */
    char *p;                  /* where the records are: a mapping, or memory at `place` */
    char *place;              /* a free range of addresses, aligned to huge pages */
    char *buffer;             /* of methods that keep nothing: for RING_RECORDS records, resident */
    size_t bytes, record, count, answer;
    size_t batch;             /* records that the method asks for at once; 0: one */
    const uint32_t *order;    /* numbers of the records that are used */
    uint64_t first, second;   /* what the uses came to */
};

struct load load_begin(struct slot *s);
void *load_room(struct slot *s, size_t bytes);   /* resident memory of the worker's */
void need_memory(struct slot *s);   /* first of all in methods that hold a copy: skips where the memory for it is bounded */
void load_check(struct slot *s, const struct load *l);
void load_lost(struct load *l, const char *call);
/* Phases answer, first-use and second-use over `p`, and the facts; in `answer` each record, or batch, is timed by itself. */
void load_uses(struct slot *s, struct load *l);
uint64_t load_use(struct load *l, size_t from, size_t to);   /* those records where they lie, and their fold */
/* The same by `use`, which takes the records from number `from` on and returns their fold. */
void load_uses_by(struct slot *s, struct load *l, uint64_t (*use)(struct load *, size_t from, size_t to));
void load_proved(struct slot *s, const struct load *l);   /* the facts of the uses alone */
void load_end(struct slot *s, struct load *l);       /* after the phase drop */

/* The same code for every method. Records may come in any order, but each counts by its number. */
static inline uint64_t record_fold(const char *start, size_t bytes, uint64_t number)
{
    const uint64_t *words = (const uint64_t *)start;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / 8; i++)
        sum += words[i];
    return sum * (2 * number + 1);
}

static inline void load_open(struct load *l, int flags)
{
    l->file = openat(l->folder, l->name, O_RDONLY | O_CLOEXEC | flags);
    if (l->file < 0)
        load_lost(l, "openat");
}

static inline void load_map(struct load *l, int flags)
{
    l->p = l->failed ? MAP_FAILED : mmap(l->place, l->bytes, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE | flags, l->file, 0);
    if (l->p == MAP_FAILED && !l->failed)
        load_lost(l, "mmap");
}

static inline void load_advise(struct load *l, int advice)
{
    while (!l->failed && madvise(l->p, l->bytes, advice) != 0)
        if (errno != EINTR)
            load_lost(l, "madvise");
}

static inline void load_memory(struct load *l, bool huge)
{
    l->p = mmap(l->place, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (l->p == MAP_FAILED)
        load_lost(l, "mmap");
    else if (huge)
        load_advise(l, MADV_HUGEPAGE);
}

static inline void load_read(struct load *l, size_t from, size_t to)
{
    for (size_t at = from; at < to && !l->failed;) {
        ssize_t got = pread(l->file, l->p + at, to - at < READ_BYTES ? to - at : READ_BYTES, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        errno = got == 0 ? EIO : errno;
        if (got <= 0)
            load_lost(l, "pread");
        else
            at += (size_t)got;
    }
}

static inline void load_drop(struct load *l)
{
    if (l->p && munmap(l->p, l->bytes) != 0)
        load_lost(l, "munmap");
    if (close(l->file) != 0)
        load_lost(l, "close");
}
#endif
