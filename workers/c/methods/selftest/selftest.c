/* The work of the self-test: steps of a generator whose number is known. */
#include "selftest.h"

/* Knuth's MMIX generator. Each step needs the result of the one before, so none can be skipped, merged or overlapped. */
#define FACTOR 6364136223846793005u
#define SUMMAND 1442695040888963407u

uint64_t take_steps(uint64_t state, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        state = state * FACTOR + SUMMAND;
    return state;
}

uint64_t after_steps(uint64_t state, uint64_t steps)
{
    uint64_t factor = FACTOR, summand = SUMMAND, whole_factor = 1, whole_summand = 0;
    for (; steps; steps >>= 1) {
        if (steps & 1) {
            whole_factor *= factor;
            whole_summand = whole_summand * factor + summand;
        }
        summand *= factor + 1;
        factor *= factor;
    }
    return state * whole_factor + whole_summand;
}
