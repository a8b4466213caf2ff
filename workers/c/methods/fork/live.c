/* A child that lives while its parent writes, and looks at its own memory when it is asked to. Never timed. */
#include "fork.h"
#include <sys/socket.h>

void live_open(struct slot *s, struct live *live)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail(s, "socketpair");
    *live = (struct live){-1, ends[0], ends[1]};
    copy_open(s);
}

static bool hear_word(int end, char *word)
{
    ssize_t got;
    while ((got = read(end, word, 1)) < 0 && errno == EINTR)
        continue;
    return got == 1;
}

void live_child(struct slot *s, const struct parent *parent, struct live *live)
{
    char word = 'r';
    copy_enter();
    check_done(s, close(live->ours), "close"); /* else it would never see its parent go */
    fact(s, "child_table_bytes", page_table_bytes(s));
    while (write(live->theirs, &word, 1) == 1 && hear_word(live->theirs, &word))
        fact(s, "child_wrong_pages", wrong_pages(s, parent, parent->mark));
    copy_leave();
}

static void hear_child(struct slot *s, struct live *live)
{
    char word;
    if (hear_word(live->ours, &word))
        return;
    check_done(s, close(live->ours), "close"); /* a child that still waits ends by it */
    copy_close(s, live->pid); /* it says why, where it knows, and does not return then */
    fail_because(s, "read, write", "the child fell silent");
}

void live_ready(struct slot *s, struct live *live)
{
    close(live->theirs);
    hear_child(s, live);
}

void live_check(struct slot *s, struct live *live)
{
    if (write(live->ours, "c", 1) != 1)
        fail(s, "write");
    hear_child(s, live);
}
