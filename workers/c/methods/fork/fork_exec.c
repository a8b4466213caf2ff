#include "program.h"
#include <sys/syscall.h>

/* struct clone_args of Linux 5.3, which every later kernel takes. */
struct call {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static SHARED_BODY void run(struct slot *s, bool by_clone3)
{
    struct parent parent = parent_begin(s);
    const char *program = program_path(s);
    char mark = (char)(parent.mark + 1);
    struct call call = {.exit_signal = SIGCHLD};
    pid_t child;
    int status = 0;
    PHASE(s, "start") {
        child = by_clone3 ? (pid_t)syscall(SYS_clone3, &call, sizeof call) : fork();
        if (child == 0) {
            execve(program, no_words, no_words);
            _exit(127);
        }
    }
    if (by_clone3 && child < 0 && (errno == ENOSYS || errno == EPERM))
        skip(s, "clone3 is refused here (before Linux 5.3, or a container's seccomp filter)");
    check_child(s, child, by_clone3 ? "clone3" : "fork");
    PHASE(s, "reap") { waitpid(child, &status, 0); }
    exit_fact(s, status);
    PHASE(s, "write") { write_each(&parent, mark); }
    parent_end(s, &parent, mark);
}

static void by_fork(struct slot *s) { run(s, false); }
METHOD(fork_fork, .experiment = "fork", .name = "fork",
       .summary = "fork() and execve(): the child gets a copy of the page tables, which it then throws away.",
       .phases = FORK_PHASES, .keys = PROGRAM_KEYS, .memory = "bytes", .laws = COPIED_LAWS,
       .calls = "start:clone reap:wait4", .run = by_fork);

static void by_clone3(struct slot *s) { run(s, true); }
METHOD(fork_clone3, .experiment = "fork", .name = "clone3",
       .summary = "clone3() without flags and execve(): the system call behind fork(), without the C library's handlers.",
       .phases = FORK_PHASES, .keys = PROGRAM_KEYS, .memory = "bytes", .laws = COPIED_LAWS,
       .calls = "start:clone3 reap:wait4", .run = by_clone3);
