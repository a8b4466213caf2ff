/* Shared by the `output` methods: the folder, the old file, the order of the pieces, the steps of a method, and the proofs. */
#ifndef PAGEWISE_OUTPUT_H
#define PAGEWISE_OUTPUT_H
#include "others.h"
#include <fcntl.h>

#define OUTPUT_PHASES "open size fill finish sync remove"
#define OUTPUT_KEYS                                                                                                    \
    "bytes:size order:sequential|pieces place:folder|tmpfs|tmpfs-huge|ext4|xfs|btrfs old:none|cached|cold running:count"
#define THREADS_OPTION " threads:count"
/* The file has the bytes, its own blocks, one name and no other file beside it; the old one was where `old` says. */
#define OUTPUT_LAWS                                                                                                    \
    "file_bytes == bytes; stored_bytes >= bytes; links == 1; strays == 0; wrong_at == bytes; "                          \
    "old=none: old_bytes == 0; old=cached: old_cached_bytes == bytes; old=cold: old_cached_bytes == 0; "                \
    "old=cold: old_bytes == bytes; " BYSTANDER_LAWS
/* Bytes of the source reach the file by system calls: no page of it is touched. */
#define WRITTEN_LAWS OUTPUT_LAWS "; fill.minor_faults == 0"
/* Pages are found by faults: each maps the page that is written to at least, and its folio at most (Linux 6.18; one page
 * before): 64 KiB pieces of 4 MiB took 667 faults on ext4 and XFS over a loop device, not 1024. */
#define MAPPED_LAWS                                                                                                    \
    OUTPUT_LAWS "; fill.minor_faults + fill.major_faults <= bytes / page_bytes + 8; "                                  \
                "(fill.minor_faults + fill.major_faults) * fault_piece_bytes >= bytes"
/* What lies in huge folios takes an eighth of the faults at most. Some of the file may: of 4 MiB one half did where no second
 * huge page was free. */
#define HUGE_FILE_LAW                                                                                                  \
    "; fill.minor_faults + fill.major_faults <= (bytes - huge_file_bytes) / page_bytes + huge_file_bytes / (8 * page_bytes) + 8"
/* The buffer is built in base pages, each found by a fault of its own. */
#define BUILT_LAWS                                                                                                    \
    OUTPUT_LAWS "; fill.minor_faults >= bytes / page_bytes; fill.minor_faults <= bytes / page_bytes + 8"
/* The device has all of it, as far as it counts. */
#define DIRECT_LAWS OUTPUT_LAWS "; dirty_known == 1: dirty_bytes == 0; device_counted == 1: device_written_bytes >= bytes"
#define IN_PLACE_LAWS "; same_inode == 1"
/* Source, cached file, a buffer or the old file, and where the file system lies in memory its blocks. */
#define OUTPUT_MEMORY "4 * bytes"
enum { DIRECT_DEPTH = 8, STEP_BYTES = 1 << 20, PIECE_BYTES = 1 << 16 };

struct output {
    int folder, file, error;
    const char *failed;        /* the first call of a phase that failed, with `error` */
    char name[96], fresh[112]; /* in the folder: the file, and a second name for methods that need one */
    const char *source;        /* `bytes` of the seeded pattern, resident */
    char *map, *buffer;
    size_t bytes, page, step, steps;
    const size_t *at;          /* offsets of the steps, in their order */
    uint64_t *ns;              /* what each step took, and where all is written in the end, that; 0: not timed by itself */
    uint64_t device_before;
    uint64_t old_inode;
};

struct output output_begin(struct slot *s);
void need_old(struct slot *s); /* first of all: skips where there is no old file */
void output_check(struct slot *s, const struct output *o); /* after a phase: fails where a call of it did */
void output_lost(struct output *o, const char *call);
void output_huge(struct slot *s, const struct output *o); /* before `finish`: facts huge_file_bytes and huge_bytes */
void output_end(struct slot *s, struct output *o);         /* proofs, and the phases sync and remove */
void use_frames(struct slot *s, size_t bytes);             /* page frames that the next phases will get are in use */
int output_place(struct slot *s, const char *place);       /* a descriptor of the folder (place.c) */

static inline size_t step_bytes(const struct output *o, size_t i)
{
    return o->bytes - o->at[i] < o->step ? o->bytes - o->at[i] : o->step;
}

static inline void output_open(struct output *o, const char *name, int flags)
{
    o->file = openat(o->folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (o->file < 0)
        output_lost(o, "openat");
}

/* As programs do that know nothing of the old file: it is truncated. */
static inline void output_truncate(struct output *o, int flags)
{
    output_open(o, o->name, O_CREAT | O_TRUNC | flags);
}

static inline void output_size(struct output *o)
{
    if (!o->failed && ftruncate(o->file, (off_t)o->bytes) != 0)
        output_lost(o, "ftruncate");
}

static inline void output_allocate(struct output *o)
{
    while (!o->failed && fallocate(o->file, 0, 0, (off_t)o->bytes) != 0)
        if (errno != EINTR)
            output_lost(o, "fallocate");
}

static inline void output_map(struct output *o)
{
    o->map = o->failed ? MAP_FAILED : mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, o->file, 0);
    if (o->map == MAP_FAILED && !o->failed)
        output_lost(o, "mmap");
}

static inline void output_advise(struct output *o, char *start, int advice)
{
    if (!o->failed && madvise(start, o->bytes, advice) != 0)
        output_lost(o, "madvise");
}

static inline void output_put(struct output *o, const char *from, size_t bytes, size_t at)
{
    for (size_t done = 0; done < bytes && !o->failed;) {
        ssize_t put = pwrite(o->file, from + done, bytes - done, (off_t)(at + done));
        if (put < 0 && errno == EINTR)
            continue;
        errno = put == 0 ? EIO : errno;
        if (put <= 0)
            output_lost(o, "pwrite");
        else
            done += (size_t)put;
    }
}

static inline void output_one(struct output *o, size_t i)
{
    uint64_t start = now_ns();
    output_put(o, o->source + o->at[i], step_bytes(o, i), o->at[i]);
    o->ns[i] = now_ns() - start;
}

/* Steps of the order from number `from` on. */
static inline void output_pwrite(struct output *o, size_t from, size_t to)
{
    for (size_t i = from; i < to && !o->failed; i++)
        output_one(o, i);
}

static inline void output_copy(struct output *o, char *into, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint64_t start = now_ns();
        memcpy(into + o->at[i], o->source + o->at[i], step_bytes(o, i));
        o->ns[i] = now_ns() - start;
    }
}

/* A thread's part of the order: it is given a range of 0 to `bytes`. */
static inline size_t part_from(const struct output *o, const struct part *part)
{
    return ((uintptr_t)part->start + o->step - 1) / o->step;
}

static inline size_t part_to(const struct output *o, const struct part *part)
{
    return ((uintptr_t)part->start + part->bytes + o->step - 1) / o->step;
}

/* All of the buffer, from the first byte to the last: one step more. */
static inline void output_put_buffer(struct output *o)
{
    uint64_t start = now_ns();
    output_put(o, o->buffer, o->bytes, 0);
    o->ns[o->steps] = now_ns() - start;
}

/* Anonymous memory, not there yet, in which the whole file is built before it is written. */
static inline void output_buffer(struct output *o)
{
    o->buffer = mmap(o->buffer, o->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (o->buffer == MAP_FAILED)
        output_lost(o, "mmap");
}

static inline void output_unmap(struct output *o)
{
    if (munmap(o->map ? o->map : o->buffer, o->bytes) != 0)
        output_lost(o, "munmap");
}

static inline void output_close(struct output *o)
{
    if (close(o->file) != 0 && !o->failed)
        output_lost(o, "close");
}
#endif
