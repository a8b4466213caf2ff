/* `load PERCENT`: takes that share of one CPU, in turns of about a millisecond, until standard input closes. It keeps
 * to its share by its own CPU clock, so that it also holds where others want the CPU too. */
#include "core.h"
#include "verb.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t own_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int load_main(int argc, char **argv)
{
    const char *percent = argv[0];
    (void)argc;
    char *end;
    uint64_t share = strtoull(percent, &end, 10);
    if (share < 1 || share > 100 || (*end && strcmp(end, "%") != 0)) {
        dprintf(2, "load: %s is not a percentage from 1 to 100\n", percent);
        return 2;
    }
    struct pollfd input = {0, POLLIN, 0};
    uint64_t start = now_ns(), start_cpu = own_cpu_ns();
    for (uint64_t turn = 0;; turn++) {
        uint64_t due = (now_ns() - start) * share / 100 + 500000;
        while (own_cpu_ns() - start_cpu < due)
            ;
        /* The first turn is over: from here on it keeps to its share. */
        if (turn == 0 && write(1, "r", 1) != 1)
            return 0;
        if (poll(&input, 1, 2) != 0)
            return 0;
    }
}

VERB("load", "PERCENT", load_main);
