#include "fork.h"
#include <sched.h>

static char stack[16384] __attribute__((aligned(64)));

static int end_at_once(void *argument)
{
    (void)argument;
    _exit(42);
}

/* The least this machine can take: a task that shares everything and becomes no program. */
static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    char mark = (char)(parent.mark + 1);
    pid_t child, ended;
    int status = 0;
    PHASE(s, "start") {
        child = clone(end_at_once, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL);
    }
    check_child(s, child, "clone");
    PHASE(s, "reap") { ended = waitpid(child, &status, 0); }
    check_done(s, ended != child, "waitpid");
    exit_fact(s, status);
    PHASE(s, "write") { write_each(&parent, mark); }
    parent_end(s, &parent, mark);
}

METHOD(fork_limit, .experiment = "fork", .name = "limit", .role = "limit",
       .summary = "clone() of a task that shares all memory and ends at once: no program can be started for less.",
       .phases = FORK_PHASES, .keys = FORK_KEYS, .memory = "bytes", .laws = SHARED_LAWS,
       .calls = "start:clone reap:wait4", .run = run);
