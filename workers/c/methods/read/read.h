/* What the `read` methods share: the file and the state of its cached pages before the clock, the steps of a pass, the one
 * consumer of all methods, and the proofs after the clock. */
#ifndef PAGEWISE_READ_H
#define PAGEWISE_READ_H
#include "cache.h"
#include "walk.h"
#include "words.h"
#include "worker.h"
#include <fcntl.h>

#define READ_PHASES "open read close"
#define READ_KEYS                                                                                                      \
    "file:text bytes:size place:disk|tmpfs consume:sum|payload|records|none order:sequential|random|"                   \
    "random-<size> cache:hot|written|mapped|cold|dropped memory:text"
#define CHUNK_KEYS READ_KEYS " chunk:size"

/* Somebody else's use of the device makes a cold figure somebody else's too. */
#define FOREIGN_LAW                                                                                                    \
    "cache=cold & counted == 1: 8 * foreign_bytes <= bytes + 67108864; "                                               \
    "cache=dropped & counted == 1: 8 * foreign_bytes <= bytes + 67108864"
/* What was used has the digest that was noted when the file was made, and the cache was what `cache=` says when the pass
 * began. Of what is hot one page in 64 may not be there: of 394 samples of 5391 pages one lacked two. */
#define HOT_BYTES "64 * resident_before_bytes >= 63 * bytes"
#define READ_LAWS                                                                                                      \
    "content_known == 1: content_wrong == 0; cache=hot: " HOT_BYTES "; cache=written: " HOT_BYTES "; cache=mapped: "     \
    HOT_BYTES "; cache=cold: resident_before_bytes == 0; cache=dropped: resident_before_bytes == 0; " FOREIGN_LAW
/* What lies in the buffer at the end is what the file has there. */
#define BUFFER_LAWS READ_LAWS "; last_wrong == 0"
/* What is cold has to come from the device, and what is hot may not. A page of the worker's own program that the kernel had
 * taken back comes with a window of 128 KiB: one sample in 264 had 64 KiB while another program searched the disk. */
#define FEW_BYTES "device_bytes <= 131072 + bytes / 64"
#define HOT_LAW "cache=hot: " FEW_BYTES "; cache=written: " FEW_BYTES "; cache=mapped: " FEW_BYTES
#define CACHE_LAWS                                                                                                     \
    BUFFER_LAWS "; " HOT_LAW "; cache=cold & counted == 1: device_bytes >= stored_bytes; "                             \
                "cache=dropped & counted == 1: device_bytes >= stored_bytes"
/* Every byte came by a read call, as the kernel counts them (rchar of /proc/self/io), and none much more than once. */
#define BROUGHT_LAWS                                                                                                   \
    "memory=unbounded & calls_counted == 1: call_bytes >= bytes; "                                                     \
    "memory=unbounded & calls_counted == 1: call_bytes <= bytes + 8192"
/* And at least one call a chunk, or a block of a random order. */
#define CALL_LAWS                                                                                                      \
    CACHE_LAWS "; " BROUGHT_LAWS "; calls_counted == 1: read_calls >= (bytes + step_bytes - 1) / step_bytes"

/* A block of order=random, of which all others are multiples; also what O_DIRECT is aligned to. And the largest block. */
enum { BLOCK_BYTES = 4096, MOST_BLOCK_BYTES = 16 << 20 };

enum consume { CONSUME_SUM, CONSUME_PAYLOAD, CONSUME_RECORDS, CONSUME_NONE, CONSUME_TOUCH };

/* Where the bytes go: the same code for every method. */
struct sink {
    enum consume kind;
    uint64_t sum, delivered_bytes;
    const void *last;           /* what was handed over last */
    size_t last_bytes;
    struct walk walk;
};
/* Takes the next bytes: adds up their 8-byte words, walks their records with or without the packets' bytes, or counts them.
 * Mapped bytes that nobody consumes (CONSUME_TOUCH) are made available by reading one byte of each 4 KiB. */
void consume(struct sink *sink, const void *data, size_t bytes);
/* Covers exactly the bytes that were used, so it is 0 where none was. */
uint64_t sink_digest(const struct sink *sink);

/* What the process and the file's device have counted. */
struct io_counts {
    uint64_t read_calls, call_bytes, own_bytes, device_bytes;
};
/* /proc/self/io counts this process and its threads; the kernel counts device bytes when it asks the device for them. What
 * this call itself reads is counted after it: `own_text` is how much that is. */
bool own_counts(struct io_counts *counts, size_t *own_text);

struct input {
    const char *path;
    size_t bytes, step_bytes, steps;
    const uint32_t *blocks;     /* in random order: the number of each step's block; NULL in sequential order */
    char *buffer;               /* aligned for O_DIRECT, resident, `buffer_bytes` long; NULL where none was asked for */
    size_t buffer_bytes;
    struct sink sink;
    int error;                  /* errno of the pass: a method's loop leaves it here and stops */
    /* the proofs' own */
    int descriptor;
    bool calls_counted;         /* the kernel counts this process's read calls and device bytes */
    bool counted;               /* and the file lies on a block device, whose own counts are there too */
    size_t resident_before, resident_after_open, resident_after, stored_bytes, blocks_map_bytes;
    bool content_known, last_wrong;
    uint64_t content;           /* what sink_digest() must be, or the sum of touched bytes, where `content_known` */
    struct io_counts before, after;
    uint64_t peak_rss_bytes;
    size_t footprint_bytes;     /* of memory that the pass goes through: cached pages and buffer */
};

enum { WHOLE = 0 }; /* instead of a chunk: a sequential pass takes all in one step (mapped files) */

/* Before the clock: checks the file, makes the steps (of `chunk` bytes in sequential order) and a buffer for `buffers` of
 * them, puts the cache into its state. */
void read_begin(struct slot *s, struct input *in, size_t chunk, size_t buffers);
/* Size of the blocks of a random order; 0 in sequential order. */
size_t random_block(struct slot *s);
/* For a method that reads before the clock too: what is counted begins here. */
void read_count_from_here(struct slot *s, struct input *in);
/* After the clock: the digest and the proofs; `calls` is how many calls phase `read` made besides the read family. */
void read_end(struct slot *s, struct input *in, uint64_t calls);
void read_free(struct input *in); /* read_end() without facts */
/* After the phases: stops at the error that the open call or the pass left. check_pass() also takes the counts and the peak
 * of resident memory, before any proof that would add to them, and holds what was handed over last against the file; it
 * stands before the phase that closes. */
void check_open(struct slot *s, int descriptor, const char *call);
void check_pass(struct slot *s, struct input *in, const char *call);

static inline size_t step_offset(const struct input *in, size_t step)
{
    return (in->blocks ? in->blocks[step] : step) * in->step_bytes;
}

static inline size_t bytes_at(const struct input *in, size_t offset)
{
    return in->bytes - offset < in->step_bytes ? in->bytes - offset : in->step_bytes;
}

/* The content that was noted beside a generated file when it was made (note.c). */
void note_read(struct input *in);
bool note_exists(const struct input *in);
#endif
