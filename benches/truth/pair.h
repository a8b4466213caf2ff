/* A sender and a receiver that both last, as a program's two processes do: the sender sleeps between two transfers. */
#ifndef TRUTH_PAIR_H
#define TRUTH_PAIR_H
#include "truth.h"
#include <signal.h>
#include <sys/prctl.h>

static struct pair {
    const char *way;
    pid_t sender;
    int wake, in;
} pairs[8];

/* Memory of the receiver, resident. Its senders do not inherit it: no page is shared. */
static char *received(size_t bytes)
{
    char *p = anonymous(bytes, 0);
    if (madvise(p, bytes, MADV_DONTFORK))
        die("MADV_DONTFORK");
    return memset(p, 2, bytes);
}

/* The pair of a way; a new one has the channel that `channel` opens, and its sender runs `send_always`. */
static struct pair *pair_of(const char *way, void (*channel)(const char *way, int ends[2]),
                            void (*send_always)(const char *way, int wake, int out))
{
    struct pair *pair = pairs;
    while (pair->way && pair->way != way)
        pair++;
    if (pair->way)
        return pair;
    int ends[2], wake[2];
    channel(way, ends);
    if (pipe(wake))
        die("pipe");
    *pair = (struct pair){way, fork(), wake[1], ends[0]};
    if (pair->sender == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it would spin for a receiver that is gone */
        close(wake[1]);
        for (struct pair *other = pairs; other != pair; other++)
            close(other->wake);
        send_always(way, wake[0], ends[1]);
    }
    close(wake[0]);
    close(ends[1]);
    return pair;
}
#endif
