/* `load=25%`: a second process that takes that share of one CPU while the slot runs. It is the helper's `load` verb, so it
 * is the same in every language's worker; its real share is read from its CPU clock. */
#include "share.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

static pid_t process;
static int hold = -1;                 /* its standard input: it ends when this closes, also when the worker is killed */
static clockid_t clock_of_process;
static uint64_t started_ns, cpu_started_ns;

/* The CPUs that this process began with: a side that is pinned must not keep its load on its own CPU. */
static cpu_set_t at_start;
__attribute__((constructor)) static void remember_cpus(void)
{
    if (sched_getaffinity(0, sizeof at_start, &at_start) != 0)
        CPU_ZERO(&at_start);
}

static uint64_t cpu_ns(void)
{
    struct timespec t = {0, 0};
    clock_gettime(clock_of_process, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void let_go(void)
{
    if (!process)
        return;
    close(hold);
    waitpid(process, NULL, 0);
    process = 0;
}

/* posix_spawn() and not fork(): a fork would leave every page of the worker write-protected, and the faults of taking them
 * back would fall into the measured phases. */
void load_start(struct slot *s)
{
    let_go(); /* of a slot that ended early */
    const char *percent = key_word(s, "load");
    int in[2], ready[2];
    if (key_size(s, "load") == 0)
        return;
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(ready, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, ready[1], 1);
    char *arguments[] = {"load", "load", (char *)percent, NULL};
    errno = posix_spawn(&process, helper_path(s), &actions, NULL, arguments, environ);
    if (errno) {
        process = 0;
        fail(s, "posix_spawn");
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(ready[1]);
    hold = in[1];
    char byte;
    bool came = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (!came || clock_getcpuclockid(process, &clock_of_process) != 0)
        fail_because(s, "posix_spawn", "the load process did not start");
    if (CPU_COUNT(&at_start))
        (void)sched_setaffinity(process, sizeof at_start, &at_start);
    started_ns = now_ns();
    cpu_started_ns = cpu_ns();
}

void load_stop(struct slot *s)
{
    uint64_t percent = key_size(s, "load");
    fact(s, "load_percent", percent);
    fact(s, "load_cpu_ns", percent ? cpu_ns() - cpu_started_ns : 0);
    fact(s, "load_wall_ns", percent ? now_ns() - started_ns : 0);
    let_go();
}
