/* The measured loops of P1, and nothing else. index=rand is the published job: the C library's rand(), which takes a lock,
 * is called for each store. index=xorshift is the corrected one: xorshift64* in registers, the same sequence in every
 * language. The untimed replays run through the same sequences. */
#include "loops.h"
#include <stdlib.h>

void write_by_rand(char *p, size_t size, uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++)
        p[(size_t)rand() % size] = 0x55;
}

void write_by_xorshift(char *p, size_t size, uint64_t ops, uint64_t seed)
{
    uint64_t x = seed | 1;
    for (uint64_t i = 0; i < ops; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        p[(x * XORSHIFT_FACTOR >> 32) % size] = 0x55;
    }
}

uint64_t read_by_rand(const unsigned char *p, size_t size, uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += p[(size_t)rand() % size];
    return sum;
}

uint64_t read_by_xorshift(const unsigned char *p, size_t size, uint64_t ops, uint64_t seed)
{
    uint64_t x = seed | 1, sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        sum += p[(x * XORSHIFT_FACTOR >> 32) % size];
    }
    return sum;
}

void clear_again_and_again(char *p, size_t size, uint64_t clears)
{
    for (uint64_t i = 0; i < clears; i++) {
        memset(p, 0, size);
        __asm__ volatile("" ::: "memory"); /* no instruction; the compiler must not merge one clearing with the next */
    }
}

void warm_loops(void)
{
    static char few[64];
    write_by_rand(few, sizeof few, 1);
    write_by_xorshift(few, sizeof few, 1, 1);
    clear_again_and_again(few, sizeof few, 1);
    few[0] = (char)read_by_rand((unsigned char *)few, sizeof few, 1);
    few[1] = (char)read_by_xorshift((unsigned char *)few, sizeof few, 1, 1);
}
