/* Two ways to add up a square table, compared with each other: pagewise bench THIS_FILE. Both read every number once and come
 * to the same; only the order differs. All that the macros do is in pagewise.h, which `pagewise bench --header` prints. */
#include <pagewise.h>
#include <stdlib.h>
#include <string.h>

/* Every function is measured at each of these values. */
PARAM(bytes, "1MiB,64MiB");

static size_t side_of(size_t bytes)
{
    size_t side = 1;
    while (side * side * sizeof(unsigned) < bytes)
        side *= 2;
    return side;
}

/* The others are compared with this one. */
BASELINE(by_columns)
{
    size_t side = side_of(VALUE(bytes)), size = side * side * sizeof(unsigned);
    unsigned *table = malloc(size); /* setup: not timed */
    uint64_t sum = 0;
    if (!table)
        FAIL("malloc");
    memset(table, 1, size);
    PHASE("sum") /* exactly what is between these braces is timed */
    {
        for (size_t column = 0; column < side; column++)
            for (size_t row = 0; row < side; row++)
                sum += table[row * side + column];
    }
    RESULT(sum); /* every function must come to the same */
    free(table); /* teardown: not timed */
}

BENCH(by_rows)
{
    size_t side = side_of(VALUE(bytes)), size = side * side * sizeof(unsigned);
    unsigned *table = malloc(size);
    uint64_t sum = 0;
    if (!table)
        FAIL("malloc");
    memset(table, 1, size);
    PHASE("sum")
    {
        for (size_t row = 0; row < side; row++)
            for (size_t column = 0; column < side; column++)
                sum += table[row * side + column];
    }
    RESULT(sum);
    free(table);
}
