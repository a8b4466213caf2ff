/* `pagewise-helper VERB WORD…`: sets processes up, puts things back, makes files, and does for workers in other languages what
 * they cannot do themselves. It measures nothing. */
#include "verb.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

extern const struct verb *const __start_pagewise_verbs[];
extern const struct verb *const __stop_pagewise_verbs[];

/* The words that a usage demands, and the most that it takes. */
static void count_words(const char *usage, int *least, int *most)
{
    int depth = 0;
    *least = *most = 0;
    for (const char *p = usage; *p;) {
        size_t length = strcspn(p, " ");
        bool many = length > strlen("…") && strncmp(p + length - strlen("…"), "…", strlen("…")) == 0;
        depth += *p == '[';
        if (many || *most == INT_MAX)
            *most = INT_MAX;
        else
            ++*most;
        *least += !many && depth == 0;
        depth -= memchr(p, ']', length) != NULL;
        p += length + strspn(p + length, " ");
    }
}

/* Whoever started the laboratory may have had these signals ignored or blocked, which is inherited. */
static void reset_signals(void)
{
    static const int numbers[] = {SIGCHLD, SIGPIPE, SIGHUP};
    sigset_t none;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int main(int argc, char **argv)
{
    reset_signals();
    /* A program that is executed by its descriptor has the descriptor's number for a name. */
    prctl(PR_SET_NAME, program_invocation_short_name);
    for (const struct verb *const *v = __start_pagewise_verbs; argc > 1 && v < __stop_pagewise_verbs; v++) {
        if (strcmp((*v)->name, argv[1]) != 0)
            continue;
        int least, most;
        count_words((*v)->usage, &least, &most);
        if (argc - 2 >= least && argc - 2 <= most)
            return (*v)->main(argc - 2, argv + 2);
        dprintf(2, "usage: %s %s %s\n", argv[0], (*v)->name, (*v)->usage);
        return 2;
    }
    dprintf(2, "usage:\n");
    for (const struct verb *const *v = __start_pagewise_verbs; v < __stop_pagewise_verbs; v++)
        dprintf(2, "  %s %s %s\n", argv[0], (*v)->name, (*v)->usage);
    return 2;
}
