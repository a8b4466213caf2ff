#include "program.h"
#include <sys/syscall.h>

/* struct clone_args of Linux 5.3, which every later kernel takes. */
struct call {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    const char *program = program_path(s);
    char mark = (char)(parent.mark + 1);
    struct call call = {.exit_signal = SIGCHLD};
    pid_t child;
    int status = 0;
    PHASE(s, "start") {
        child = (pid_t)syscall(SYS_clone3, &call, sizeof call);
        if (child == 0) {
            execve(program, no_words, no_words);
            _exit(127);
        }
    }
    if (child < 0 && (errno == ENOSYS || errno == EPERM))
        skip(s, "clone3 is refused here (before Linux 5.3, or a container's seccomp filter)");
    check_child(s, child, "clone3");
    PHASE(s, "reap") { waitpid(child, &status, 0); }
    exit_fact(s, status);
    PHASE(s, "write") { write_each(&parent, mark); }
    parent_end(s, &parent, mark);
}

METHOD(fork_clone3, .experiment = "fork", .name = "clone3",
       .summary = "clone3() without flags and execve(): the system call behind fork(), without the C library's handlers.",
       .phases = FORK_PHASES, .keys = PROGRAM_KEYS, .memory = "bytes", .laws = COPIED_LAWS,
       .calls = "start:clone3 reap:wait4", .run = run);
