/* Counts a program's system calls, and the bytes that they read and wrote, by ptrace, in memory that the program has too
 * (harness/counts.h). Where that is not permitted the program runs uncounted. */
#include "call.h"
#include "counts.h"
#include "verb.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_THREADS = 4096 };

static struct counts *counts;
static struct {
    pid_t thread;
    long number;
} begun[MOST_THREADS]; /* the call that each thread is in */

/* The column that a call's bytes are added to; -1 where it moves none. */
static int column(long number)
{
    switch (number) {
    case SYS_read: case SYS_pread64: case SYS_readv: case SYS_preadv: case SYS_preadv2: case SYS_recvfrom:
    case SYS_recvmsg:
        return COUNT_READ;
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_pwritev2: case SYS_sendto:
    case SYS_sendmsg: case SYS_sendfile: case SYS_copy_file_range: case SYS_splice: case SYS_vmsplice:
        return COUNT_WRITTEN;
    }
    return -1;
}

static void take(pid_t thread)
{
    struct call call;
    int place = thread % MOST_THREADS;
    if (!call_of(thread, &call))
        return;
    if (call.op == CALL_ENTRY) {
        counts->count[COUNT_CALLS]++;
        begun[place].thread = thread;
        begun[place].number = (long)call.of.entry.number;
    } else if (call.op == CALL_EXIT && begun[place].thread == thread && !call.of.exit.is_error && call.of.exit.value > 0) {
        int into = column(begun[place].number);
        if (into >= 0)
            counts->count[into] += (uint64_t)call.of.exit.value;
    }
}

/* Lets a stopped thread go on to its next call. A group stop lasts; a signal is passed on. */
static void go_on(pid_t thread, int status)
{
    int number = WSTOPSIG(status), event = status >> 16;
    bool is_group = event == PTRACE_EVENT_STOP && number != SIGTRAP;
    bool is_call = number == (SIGTRAP | 0x80);
    if (is_call)
        take(thread);
    ptrace(is_group ? PTRACE_LISTEN : PTRACE_SYSCALL, thread, NULL, is_call || event ? NULL : (void *)(long)number);
}

static int follow(pid_t first)
{
    int status;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        if (thread > 0 && WIFSTOPPED(status))
            go_on(thread, status);
        else if (thread == first)
            break;
    }
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int count_main(int argc, char **argv)
{
    (void)argc;
    char number[16];
    int fd = memfd_create("pagewise-counts", 0), ready[2];
    if (fd < 0 || ftruncate(fd, sizeof *counts) != 0 || pipe(ready) != 0) {
        dprintf(2, "count: %s\n", strerror(errno));
        return 3;
    }
    counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(number, sizeof number, "%d", fd);
    setenv(COUNTS_VARIABLE, number, 1);
    pid_t first = fork();
    if (counts == MAP_FAILED || first < 0) {
        dprintf(2, "count: %s\n", strerror(errno));
        return 3;
    }
    if (first == 0) {
        char go;
        close(ready[1]);
        (void)!read(ready[0], &go, 1);
        close(ready[0]);
        execvp(argv[0], argv);
        dprintf(2, "count: %s: %s\n", argv[0], strerror(errno));
        _exit(3);
    }
    unsetenv("LD_PRELOAD");
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    counts->traced = ptrace(PTRACE_SEIZE, first, NULL, (void *)options) == 0;
    if (counts->traced)
        ptrace(PTRACE_INTERRUPT, first, NULL, NULL);
    close(ready[0]);
    close(ready[1]);
    return follow(first);
}

VERB("count", "PROGRAM ARG…", count_main);
