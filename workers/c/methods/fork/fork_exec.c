#include "program.h"

static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    const char *program = program_path(s);
    char mark = (char)(parent.mark + 1);
    pid_t child;
    int status = 0;
    PHASE(s, "start") {
        child = fork();
        if (child == 0) {
            execve(program, no_words, no_words);
            _exit(127);
        }
    }
    check_child(s, child, "fork");
    PHASE(s, "reap") { waitpid(child, &status, 0); }
    exit_fact(s, status);
    PHASE(s, "write") { write_each(&parent, mark); }
    parent_end(s, &parent, mark);
}

METHOD(fork_fork, .experiment = "fork", .name = "fork",
       .summary = "fork() and execve(): the child gets a copy of the page tables, which it then throws away.",
       .phases = FORK_PHASES, .keys = PROGRAM_KEYS, .memory = "bytes", .laws = COPIED_LAWS,
       .calls = "start:clone reap:wait4", .run = run);
