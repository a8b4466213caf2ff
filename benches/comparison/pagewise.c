/* The pairs for Pagewise: pagewise bench pagewise.c --set pair=2 */
#include <pagewise.h>
#include "work.c"

PARAM(pair, "1,2,3,4,5");

BASELINE(a)
{
    int pair = (int)VALUE(pair);
    PHASE("run")
    {
        work(pair, 0);
    }
}

BENCH(b)
{
    int pair = (int)VALUE(pair);
    PHASE("run")
    {
        work(pair, 1);
    }
}
