/* What this build is. The only file of the harness that is compiled once for each level. */
#include "core.h"

const char *worker_name(void)
{
    return PAGEWISE_WORKER_NAME;
}

const char *worker_compiler(void)
{
    return PAGEWISE_COMPILER;
}

const char *worker_flags(void)
{
    return PAGEWISE_FLAGS;
}
