/* See words.h. */
#include "words.h"
#include <string.h>

/* Every 8 bytes, as a program would read them that needs them all. Where a loop lies within a line of 64 bytes can change its
 * speed, so that is not left to what the compiler puts before it; and it is never copied into a caller. */
__attribute__((noinline, aligned(64))) uint64_t sum_words(const unsigned char *data, size_t bytes)
{
    uint64_t sum = 0, word = 0;
    size_t whole = bytes & ~(size_t)7, rest = bytes & 7;
    for (size_t i = 0; i < whole; i += 8) {
        memcpy(&word, data + i, 8);
        sum += word;
    }
    if (!rest)
        return sum;
    word = 0;
    if (whole) { /* the last eight bytes at once; those that were added before are shifted out */
        memcpy(&word, data + bytes - 8, 8);
        return sum + (word >> (64 - 8 * rest));
    }
    for (size_t i = 0; i < rest; i++)
        word |= (uint64_t)data[i] << (8 * i);
    return word;
}
