/* The consumers. */
#include "read.h"

/* One byte of each page, so that all of them are there; the compiler may leave none out. */
static uint64_t touch_pages(const unsigned char *data, size_t bytes)
{
    const volatile unsigned char *p = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i += BLOCK_BYTES)
        sum += p[i];
    return sum;
}

void consume(struct sink *sink, const void *data, size_t bytes)
{
    sink->delivered_bytes += bytes;
    sink->last = data;
    sink->last_bytes = bytes;
    switch (sink->kind) {
    case CONSUME_RECORDS:
    case CONSUME_PAYLOAD:
        walk_piece(&sink->walk, data, bytes);
        break;
    case CONSUME_SUM:
        sink->sum += sum_words(data, bytes);
        break;
    case CONSUME_TOUCH:
        sink->sum += touch_pages(data, bytes);
        break;
    case CONSUME_NONE:
        break;
    }
}

uint64_t sink_digest(const struct sink *sink)
{
    switch (sink->kind) {
    case CONSUME_SUM:
        return sink->sum;
    case CONSUME_RECORDS:
    case CONSUME_PAYLOAD:
        return walk_digest(&sink->walk);
    default: /* nothing was used */
        return 0;
    }
}
