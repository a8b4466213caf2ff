/* The measured loops of P1, and nothing else. index=rand is the published job: the C library's rand(), which takes a lock,
 * is called for each store, and its remainder is the index. index=xorshift is the corrected one, the same sequence in every
 * language. The untimed replays run through the same sequences. */
#include "loops.h"
#include <stdlib.h>

void write_by_rand(char *p, size_t size, uint64_t ops)
{
    uint32_t among = (uint32_t)size; /* as an int there: a 32-bit division */
    for (uint64_t i = 0; i < ops; i++)
        p[(uint32_t)rand() % among] = 0x55;
}

void write_by_xorshift(char *p, size_t size, uint64_t ops, uint64_t seed)
{
    uint64_t x = seed | 1;
    for (uint64_t i = 0; i < ops; i++)
        p[NEXT_BY_XORSHIFT(x, size)] = 0x55;
}

const uint32_t *index_table(struct slot *s, size_t size, uint64_t ops, uint64_t seed)
{
    static uint32_t *table;
    static uint64_t of[3];
    if (table && of[0] == size && of[1] == ops && of[2] == seed)
        return table;
    if (table)
        munmap(table, of[1] * sizeof *table);
    table = mmap(NULL, ops * sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, table);
    uint64_t x = seed | 1;
    for (uint64_t i = 0; i < ops; i++)
        table[i] = (uint32_t)NEXT_BY_XORSHIFT(x, size);
    of[0] = size, of[1] = ops, of[2] = seed;
    return table;
}

void write_by_table(char *p, const uint32_t *table, uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++)
        p[table[i]] = 0x55;
}

uint64_t only_table(const uint32_t *table, uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += table[i];
    return sum;
}

uint64_t read_by_table(const unsigned char *p, const uint32_t *table, uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += p[table[i]];
    return sum;
}

uint64_t only_rand(size_t size, uint64_t ops)
{
    uint32_t among = (uint32_t)size;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += (uint32_t)rand() % among;
    return sum;
}

uint64_t only_xorshift(size_t size, uint64_t ops, uint64_t seed)
{
    uint64_t x = seed | 1, sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += NEXT_BY_XORSHIFT(x, size);
    return sum;
}

uint64_t read_by_rand(const unsigned char *p, size_t size, uint64_t ops)
{
    uint32_t among = (uint32_t)size;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += p[(uint32_t)rand() % among];
    return sum;
}

uint64_t read_by_xorshift(const unsigned char *p, size_t size, uint64_t ops, uint64_t seed)
{
    uint64_t x = seed | 1, sum = 0;
    for (uint64_t i = 0; i < ops; i++)
        sum += p[NEXT_BY_XORSHIFT(x, size)];
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
    static const uint32_t none[1];
    write_by_xorshift(few, sizeof few, 1, 1);
    write_by_table(few, none, 1);
    few[3] = (char)(only_table(none, 1) + read_by_table((unsigned char *)few, none, 1));
    clear_again_and_again(few, sizeof few, 1);
    few[0] = (char)read_by_rand((unsigned char *)few, sizeof few, 1);
    few[1] = (char)read_by_xorshift((unsigned char *)few, sizeof few, 1, 1);
    few[2] = (char)(only_rand(sizeof few, 1) + only_xorshift(sizeof few, 1, 1));
}
