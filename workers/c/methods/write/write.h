/* What the `write` methods share: a file of records, the two loops over them, what the device was seen to do, the proof. */
#ifndef PAGEWISE_WRITE_H
#define PAGEWISE_WRITE_H
#include "worker.h"
#include "latency.h"
#include <fcntl.h>
#include <sys/types.h>

#define WRITE_PHASES "write timed-write"
#define WRITE_KEYS "bytes:size ops:count order:random|append|preallocated file_bytes:size"
/* What was acknowledged is there when the cache was emptied; nothing that was acknowledged was still dirty; and the device has
 * written at least as much. */
#define STORED_LAWS                                                                                                    \
    "in_memory == 0; dirty_bytes == 0; cached_bytes == 0; wrong_at == stored_bytes; "                                  \
    "device_seen == 1: device_written_bytes >= useful_bytes"
/* A device with a volatile cache is flushed once a record; by FUA the write itself carries that. What others
 * have it flush is counted too. */
#define DURABLE_LAWS STORED_LAWS "; device_seen == 1 & volatile_cache == 1 & fua == 0: foreign_barriers >= ops"
#define UNFLUSHED_LAWS STORED_LAWS "; device_seen == 1: foreign_barriers < ops"

struct record {
    const char *data;
    size_t bytes;
    off_t at;
};

struct store {
    int fd;
    char *image;              /* the whole file as it must be, in memory; whole blocks are written from it */
    char *map;                /* the file, where a method maps it */
    size_t ops, record_bytes, file_bytes, stored_bytes, page_bytes;
    struct record *records;   /* 2 * ops: those of write, then those of timed-write */
    uint64_t *ns;
    char path[512];
};

/* Makes one record durable; false with errno set where that fails. */
typedef bool put_record(struct store *st, const struct record *r);

enum { BLOCK = 4096 }; /* what direct writes are aligned to; devices ask for this or for less */

/* `flags` beside O_RDWR: O_DSYNC, O_DIRECT. Skips where the file would lie in memory. */
void store_open(struct slot *s, struct store *st, int flags);
void store_map(struct slot *s, struct store *st);
void device_before(struct slot *s, const struct store *st); /* device.c */
void device_after(struct slot *s, const struct store *st);
void store_check(struct slot *s, const struct store *st, size_t done, const char *call);
void store_prove(struct slot *s, struct store *st); /* empties the cache and reads back */
/* The same of a file by that name, which holds the last record and nothing else; the store's own file is as it was. */
void store_replaced(struct slot *s, struct store *st, int folder, const char *name);
void store_end(struct slot *s, struct store *st);

/* The record in the image of the file, widened to whole blocks; `bytes` is how much that is. */
static inline char *image_blocks(const struct store *st, const struct record *r, size_t *bytes, off_t *at)
{
    memcpy(st->image + r->at, r->data, r->bytes);
    *at = r->at / BLOCK * BLOCK;
    *bytes = ((size_t)r->at + r->bytes + BLOCK - 1) / BLOCK * BLOCK - (size_t)*at;
    return st->image + *at;
}

/* The measured loops; `put` is inlined. */
__attribute__((unused)) static inline __attribute__((always_inline)) void
write_phases(struct slot *s, struct store *st, put_record *put, const char *call)
{
    size_t ops = st->ops, done = 0;
    const struct record *records = st->records;
    uint64_t *ns = st->ns, before, after;
    device_before(s, st);
    PHASE(s, "write") {
        while (done < ops && put(st, &records[done]))
            done++;
    }
    if (done < ops)
        store_check(s, st, done, call);
    PHASE(s, "timed-write") {
        after = now_ns();
        for (; done < 2 * ops && put(st, &records[done]); done++) {
            before = after;
            after = now_ns();
            ns[done - ops] = after - before;
        }
    }
    store_check(s, st, done, call);
    device_after(s, st);
}
#endif
