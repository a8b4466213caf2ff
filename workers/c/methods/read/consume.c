/* The consumers. Fields are read into locals before the loops. */
#include "read.h"

/* Every 8 bytes, as a program would read them that needs them all; the last word is padded with zeros. Where a loop lies within
 * a line of 64 bytes can change its speed, so that is not left to what the compiler puts before it. */
__attribute__((noinline, aligned(64))) static uint64_t sum_words(const unsigned char *data, size_t bytes)
{
    uint64_t sum = 0, word;
    size_t whole = bytes & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        memcpy(&word, data + i, 8);
        sum += word;
    }
    word = 0;
    memcpy(&word, data + whole, bytes - whole);
    return sum + word;
}

static void touch_pages(const unsigned char *data, size_t bytes)
{
    const volatile unsigned char *p = data;
    size_t page = (size_t)getpagesize();
    for (size_t i = 0; i < bytes; i += page)
        (void)p[i];
}

void consume(struct sink *sink, const void *data, size_t bytes)
{
    sink->delivered_bytes += bytes;
    switch (sink->kind) {
    case CONSUME_RECORDS:
        walk_piece(&sink->walk, data, bytes);
        break;
    case CONSUME_SUM:
        sink->sum += sum_words(data, bytes);
        break;
    case CONSUME_TOUCH:
        touch_pages(data, bytes);
        break;
    case CONSUME_NONE:
        break;
    }
}
