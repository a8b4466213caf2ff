/* A pass that several threads share, each over its own contiguous part of the file: sequential order, and a consumer whose
 * parts add up. */
#ifndef PAGEWISE_READ_THREADS_H
#define PAGEWISE_READ_THREADS_H
#include "map.h"
#include "read_call.h"

#define THREADS_KEYS                                                                                                   \
    "file:text bytes:size place:disk|tmpfs consume:sum|none order:sequential cache:hot|cold|dropped memory:text "        \
    "threads:count"
enum { MOST_THREADS = 64 };

/* What each thread used; filled in by the parts' own threads, on lines of their own. */
struct thread_sink {
    _Alignas(128) struct sink sink;
    int error;
};

/* Takes the threads' sums together. What was handed over last is what the thread with the file's end had. */
static inline void threads_add_up(struct input *in, const struct thread_sink *sinks, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        in->sink.sum += sinks[i].sink.sum;
        in->sink.delivered_bytes += sinks[i].sink.delivered_bytes;
        in->error = in->error ? in->error : sinks[i].error;
    }
}

static inline void threads_check(struct slot *s)
{
    if (s->threads > MOST_THREADS)
        skip(s, "more than 64 threads are not supported here");
}
#endif
