/* The measured loops of `share`: stores, loads and clearing, with each kind of index. */
#ifndef PAGEWISE_SHARE_LOOPS_H
#define PAGEWISE_SHARE_LOOPS_H
#include "worker.h"

#define XORSHIFT_FACTOR UINT64_C(0x2545F4914F6CDD1D)

/* The next index of index=xorshift: xorshift64* (Vigna 2016), brought into 0 … size-1 by multiply and shift (Lemire 2019).
 * A remainder would be a 64-bit division, which costs more than the store that it is for. */
#define NEXT_BY_XORSHIFT(x, size)                                                                                      \
    ((x) ^= (x) >> 12, (x) ^= (x) << 25, (x) ^= (x) >> 27, (((x) * XORSHIFT_FACTOR >> 32) * (size)) >> 32)

void write_by_rand(char *p, size_t size, uint64_t ops);
/* index=table: the same sequence, made before the clock, so that the store is what is timed. */
const uint32_t *index_table(struct slot *s, size_t size, uint64_t ops, uint64_t seed);
void write_by_table(char *p, const uint32_t *table, uint64_t ops);
uint64_t only_table(const uint32_t *table, uint64_t ops);
uint64_t read_by_table(const unsigned char *p, const uint32_t *table, uint64_t ops);
void write_by_xorshift(char *p, size_t size, uint64_t ops, uint64_t seed);
/* The same loops with no store: what the indices cost by themselves. They return the sum of the indices. */
uint64_t only_rand(size_t size, uint64_t ops);
uint64_t only_xorshift(size_t size, uint64_t ops, uint64_t seed);
uint64_t read_by_rand(const unsigned char *p, size_t size, uint64_t ops);
uint64_t read_by_xorshift(const unsigned char *p, size_t size, uint64_t ops, uint64_t seed);
void clear_again_and_again(char *p, size_t size, uint64_t clears);
void warm_loops(void); /* runs each once, so that no page of code is faulted in by a measured one */
#endif
