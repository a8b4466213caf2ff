/* The least that a cached file's bytes can take here: they lie in resident anonymous memory already, and are consumed by the
 * fastest of four ways, by one thread or by two, with or without streaming each piece into the cache first. */
#ifndef PAGEWISE_READ_LIMIT_HOT_H
#define PAGEWISE_READ_LIMIT_HOT_H
#include "read.h"

enum { MOST_SHARES = 2 };

struct hot_way {
    unsigned shares; /* threads, each with its share of the bytes */
    bool streams;    /* touches the lines of a piece before it consumes it: a walk waits for each header in turn */
};

struct hot {
    const char *copy;
    size_t bytes;
    struct hot_way way;
    /* where the second share begins: anywhere for a sum, at a record for a walk, which also has to know its number */
    size_t middle;
    uint64_t records_before;
    struct sink sinks[MOST_SHARES];
};

/* Never timed as a phase: tries the ways, once a process for each cell. */
struct hot_way hot_best(struct slot *s, const struct input *in, const char *copy);
/* Before the clock: where the shares meet, and a thread that waits for its own; hot_end() ends it. */
void hot_begin(struct slot *s, struct hot *hot, const struct input *in, const char *copy, size_t bytes, struct hot_way way);
/* Measured: consumes all bytes; the first sink then holds the whole result. */
void hot_pass(struct hot *hot);
void hot_end(const struct hot *hot);
#endif
