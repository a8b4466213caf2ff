/* Shared by the `interference` methods: a worker that goes through a file or through memory, and a victim beside it, another
 * process on a CPU of its own that reads from a hot set at due times. Both are in one memory bound. The phase is the worker's;
 * latencies are the victim's. */
#ifndef PAGEWISE_INTERFERENCE_H
#define PAGEWISE_INTERFERENCE_H
#include "worker.h"
#include <fcntl.h>

#define INTERFERENCE_PHASES "work"
#define WORK_KEY(kinds) " work:" kinds
#define INTERFERENCE_KEYS                                                                                              \
    "bytes:size hot:size bound:text victim:pread|mmap|mmap-random|mmap-sequential rate:count ops:count"
#define PACE_OPTION " pace:size"
/* Whatever the worker does: all of the hot set was cached before, each read of the victim found what the file was made of, none
 * began before it was due, none that was due was left out, and the bound was kept. */
#define VICTIM_LAWS                                                                                                    \
    "hot_before_bytes == hot; wrong_reads == 0; victim_ops >= ops; peak_bytes <= limit_bytes; "                        \
    "100 * victim_wall_ns >= 99 * (victim_ops - 1) * interval_ns; timed_ops == victim_ops"
/* The worker went through all bytes, and they were what they had to be. */
#define WORK_LAWS VICTIM_LAWS "; wrong_sum == 0; moved_bytes == bytes"
/* None of the file was cached before, and all of it came from the device. */
#define SCAN_LAWS "; scan_before_bytes == 0; device_read_bytes >= bytes"
/* All of it went to the device by the end of the phase. */
#define WRITE_LAWS "; unwritten_bytes == 0; device_written_bytes >= bytes"
/* Little of the worker's file is in the page cache after it: a folio that lies across two steps may be left. */
#define BEHIND_LAW "; 8 * left_bytes <= bytes + 4194304"
#define NOTHING_LEFT_LAW "; left_bytes == 0"
#define INTERFERENCE_MEMORY "4194304"
/* Anonymous memory of the worker at a time: with the hot set a quarter more than the usual bound, which is twice the hot set,
 * but for a sixteenth of it. */
#define MEMORY_AT_A_TIME "5 * hot / 4"

enum { STEP_BYTES = 1 << 20 };

enum kind_of_work { READS, WRITES, COPIES, FILLS };

struct scan {
    enum kind_of_work work;
    size_t bytes, page, pace;
    int file;              /* what is read; -1: nothing */
    int target;            /* what is written; -1: nothing */
    char *buffer;          /* STEP_BYTES, resident, aligned to pages; of a writer what it writes */
    char *place;           /* a free range of addresses for a mapping of all bytes */
    size_t at_a_time;      /* anonymous memory */
    uint64_t sum;          /* of all words that the worker went through */
    size_t moved;          /* bytes that it went through */
    bool unseen;           /* the kernel moved the bytes and the worker saw none */
    const char *failed;    /* the first call of the phase that failed, with `error` */
    int error;
};

/* Before the clock: the files, the page cache, and the victim, which is at work when it returns. `flags` are those of open(2)
 * for the file that the worker reads or writes. No method may leave its slot before scan_end(). */
struct scan scan_begin(struct slot *s, int flags);
struct scan scan_none(struct slot *s);                /* the victim alone */
void scan_lost(struct scan *w, const char *call);
/* After the phase: the victim ends, and proofs follow. scan_skip() in place of a failure that means the kernel lacks it. */
void scan_end(struct slot *s, struct scan *w);
void scan_skip(struct slot *s, struct scan *w, const char *reason);

static inline uint64_t sum_of(const char *start, size_t bytes)
{
    const uint64_t *words = (const uint64_t *)start;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / 8; i++)
        sum += words[i];
    return sum;
}

/* Uses what is in the buffer, or in a mapping. */
static inline void scan_use(struct scan *w, const char *start, size_t bytes)
{
    w->sum += sum_of(start, bytes);
    w->moved += bytes;
}

/* What a call answered that moved bytes: whether they all came, with `done` of them. */
static inline bool scan_moved(struct scan *w, const char *call, ssize_t answer, size_t *done)
{
    if (answer < 0 && errno == EINTR)
        return true;
    if (answer <= 0) {
        errno = answer == 0 ? EIO : errno;
        scan_lost(w, call);
        return false;
    }
    *done += (size_t)answer;
    return true;
}

static inline void scan_read(struct scan *w, size_t at)
{
    for (size_t done = 0; done < STEP_BYTES;)
        if (!scan_moved(w, "pread", pread(w->file, w->buffer + done, STEP_BYTES - done, (off_t)(at + done)), &done))
            return;
    scan_use(w, w->buffer, STEP_BYTES);
}

/* Each step that is written has its number in the first word, so that no two are alike. */
static inline void scan_stamp(struct scan *w, size_t at)
{
    if (w->work == WRITES)
        *(uint64_t *)w->buffer = at / STEP_BYTES;
}

static inline void scan_write(struct scan *w, size_t at)
{
    scan_stamp(w, at);
    for (size_t done = 0; done < STEP_BYTES;)
        if (!scan_moved(w, "pwrite", pwrite(w->target, w->buffer + done, STEP_BYTES - done, (off_t)(at + done)), &done))
            return;
    if (w->work == WRITES)
        scan_use(w, w->buffer, STEP_BYTES);
}

/* What is written is on the device before a writer's phase ends: otherwise write-back would go on in nobody's time. */
static inline void scan_sync(struct scan *w)
{
    while (!w->failed && fdatasync(w->target) != 0)
        if (errno != EINTR)
            scan_lost(w, "fdatasync");
}
#endif
