/* The one sum of 8-byte words that every consumer of `read` and every method calls. It includes nothing of the worker. */
#ifndef PAGEWISE_READ_WORDS_H
#define PAGEWISE_READ_WORDS_H
#include <stddef.h>
#include <stdint.h>

/* The sum modulo 2^64 of all little-endian 8-byte words; the last one is padded with zeros. */
uint64_t sum_words(const unsigned char *data, size_t bytes);
#endif
