/* `neighbor PARENT`: touches fresh pages at fixed times, as methods/prefault/neighbor.h says, until it is told to end. Standard
 * input is the memory that it shares with the worker PARENT, with which it dies. */
#include "core.h"
#include "helper/verb.h"
#include "methods/prefault/neighbor.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

static int neighbor_main(int argc, char **argv)
{
    struct neighbor *me;
    (void)argc;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != atoi(argv[0]))
        return 3;
    me = mmap(NULL, sizeof *me, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, 0, 0);
    if (me == MAP_FAILED) {
        dprintf(2, "neighbor: standard input is no shared memory: %s\n", strerror(errno));
        return 2;
    }
    code_touch(); /* each of its faults is to be an operation */
    neighbor_live(me);
    return 0;
}

VERB("neighbor", "PARENT", neighbor_main);
