/* The native worker: lists what it can do, or reads a request and runs it. */
#include "core.h"
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

/* Further lines on a worker that is built from somebody's file (bench/bench.c). */
__attribute__((weak)) void about_more(void);

/* A user's file may have a main() of its own: `--wrap=main` starts that worker at __wrap_main(). */
int main(int argc, char **argv) __attribute__((alias("__wrap_main")));
int __wrap_main(int argc, char **argv)
{
    /* A program that is executed by its descriptor has the descriptor's number for a name. */
    prctl(PR_SET_NAME, program_invocation_short_name);
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        transcript_about();
        if (about_more)
            about_more();
        methods_list();
        out_flush();
        return 0;
    }
    if (argc > 1) {
        dprintf(2, "usage: %s [--list], or a request on standard input\n", argv[0]);
        return 2;
    }
    request_read();
    worker_run();
    return 0;
}
