#include "program.h"
#include <spawn.h>

static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    const char *program = program_path(s);
    char mark = (char)(parent.mark + 1);
    pid_t child = -1;
    int status = 0, error = 0;
    PHASE(s, "start") { error = posix_spawn(&child, program, NULL, NULL, no_words, no_words); }
    if ((errno = error) != 0)
        fail(s, "posix_spawn");
    PHASE(s, "reap") { waitpid(child, &status, 0); }
    exit_fact(s, status);
    PHASE(s, "write") { write_each(&parent, mark); }
    parent_end(s, &parent, mark);
}

METHOD(fork_posix_spawn, .experiment = "fork", .name = "posix-spawn",
       .summary = "posix_spawn(): the C library's way, which borrows the memory as vfork() does, on a stack of its own.",
       .phases = FORK_PHASES, .keys = PROGRAM_KEYS, .memory = "bytes", .laws = SHARED_LAWS,
       .calls = "start:rt_sigprocmask,mmap,munmap,clone3?,clone? reap:wait4", .run = run);
