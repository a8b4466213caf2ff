/* Two ways to fill memory, compared with each other: pagewise bench THIS_FILE. Everything that the macros do is in pagewise.h,
 * which `pagewise bench --header` prints. */
#include <pagewise.h>
#include <stdlib.h>
#include <string.h>

/* Every function is measured at each of these values. */
PARAM(bytes, "1MiB,64MiB");

/* The others are compared with this one. */
BASELINE(touch_each_page)
{
    size_t bytes = VALUE(bytes);
    char *p = malloc(bytes); /* setup: not timed */
    if (!p)
        FAIL("malloc");
    PHASE("fill") /* exactly what is between these braces is timed */
    {
        for (size_t at = 0; at < bytes; at += 4096)
            p[at] = 1;
    }
    RESULT(p[0] + p[bytes - 4096]); /* every function must come to the same */
    free(p);                        /* teardown: not timed */
}

BENCH(fill_all)
{
    size_t bytes = VALUE(bytes);
    char *p = malloc(bytes);
    if (!p)
        FAIL("malloc");
    PHASE("fill")
    {
        memset(p, 1, bytes);
    }
    RESULT(p[0] + p[bytes - 4096]);
    free(p);
}
