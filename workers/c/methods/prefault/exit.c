/* The phase `exit` of the `prefault` methods: the end of another process that holds as much memory of the same kind. */
#include "prefault.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

static pid_t holder;
static int line = -1; /* to the holder */

void prefault_exit_leave(void)
{
    if (holder) {
        kill(holder, SIGKILL);
        waitpid(holder, NULL, 0);
    }
    if (line >= 0)
        close(line);
    holder = 0;
    line = -1;
}

/* Starts it by the helper's verb `hold`. Returns the bytes that are there, by its account. */
static uint64_t hold(struct slot *s, const struct memory *m)
{
    int ends[2];
    uint64_t held = 0;
    const char *pages = m->pool ? "pool" : wants_huge_pages(s) ? "huge" : "base";
    /* A ring's buffers are let go by the kernel's workers after the process has ended, so nothing is registered here. */
    char *verb[] = {"hold", (char *)arena_text("%zu", m->bytes), (char *)pages, (char *)arena_text("%zu", m->pool),
                    key_is(s, "pinned", "lock") ? "lock" : "no", (char *)key_word(s, "sharing"),
                    (char *)arena_text("%d", getpid()), NULL};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail(s, "socketpair");
    line = ends[0];
    holder = helper_start(s, verb, ends[1], m->descriptor);
    close(ends[1]);
    if (read(line, &held, sizeof held) != sizeof held)
        fail_because(s, "read", "the process that holds the memory ended early: its mmap, madvise, mlock, mincore or write was "
                                "refused, as it says on standard error");
    return held;
}

void prefault_exit(struct slot *s, const struct memory *m)
{
    if (!s->proofs)
        return;
    int status = -1;
    bool told = false;
    uint64_t held = hold(s, m);
    int to = line;
    pid_t process = holder, ended = -1;
    PHASE(s, "exit") {
        told = write(to, "e", 1) == 1;
        ended = told ? waitpid(process, &status, 0) : -1;
    }
    check_done(s, !told, "write");
    check_done(s, ended != process, "waitpid");
    holder = 0;
    prefault_exit_leave();
    fact(s, "exit_bytes", held);
    fact(s, "exit_status", WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 256);
}
