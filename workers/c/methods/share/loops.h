/* The measured loops of `share`: stores, loads and clearing, with each kind of index. */
#ifndef PAGEWISE_SHARE_LOOPS_H
#define PAGEWISE_SHARE_LOOPS_H
#include "worker.h"

#define XORSHIFT_FACTOR UINT64_C(0x2545F4914F6CDD1D)

void write_by_rand(char *p, size_t size, uint64_t ops);
void write_by_xorshift(char *p, size_t size, uint64_t ops, uint64_t seed);
uint64_t read_by_rand(const unsigned char *p, size_t size, uint64_t ops);
uint64_t read_by_xorshift(const unsigned char *p, size_t size, uint64_t ops, uint64_t seed);
void clear_again_and_again(char *p, size_t size, uint64_t clears);
void warm_loops(void); /* runs each once, so that no page of code is faulted in by a measured one */
#endif
