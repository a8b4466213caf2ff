#include "program.h"

static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    const char *program = program_path(s);
    char mark = (char)(parent.mark + 1);
    volatile pid_t child;
    int status = 0;
    PHASE(s, "start") {
        child = vfork();
        if (child == 0) {
            execve(program, no_words, no_words);
            _exit(127);
        }
    }
    check_child(s, child, "vfork");
    PHASE(s, "reap") { waitpid(child, &status, 0); }
    exit_fact(s, status);
    PHASE(s, "write") { write_each(&parent, mark); }
    parent_end(s, &parent, mark);
}

METHOD(fork_vfork, .experiment = "fork", .name = "vfork",
       .summary = "vfork() and execve(): the child borrows the memory while the parent waits; no page table is copied.",
       .phases = FORK_PHASES, .keys = PROGRAM_KEYS, .memory = "bytes", .laws = SHARED_LAWS,
       .calls = "start:vfork?,clone? reap:wait4", .run = run);
