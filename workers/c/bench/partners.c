/* Processes beside a function: its other side, which ends with its turn, and fixtures, which end with the process. */
#include "partners.h"
#include "pin.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST_PARTNERS = 64, PATIENCE_MS = 500 };
static pid_t fixtures[MOST_PARTNERS], others[MOST_PARTNERS];
static size_t fixture_count, other_count;
static int ready_end = -1; /* in a fixture, until it is ready */

void partner_ready(void)
{
    if (ready_end >= 0) {
        (void)!write(ready_end, "r", 1);
        close(ready_end);
    }
    ready_end = -1;
}

/* A fixture leads a group of processes: what it has started ends with it. */
static void end_group(int number)
{
    (void)number;
    kill(0, SIGKILL);
}

static void be_fixture(pid_t parent, void (*body)(void))
{
    setpgid(0, 0);
    signal(SIGTERM, end_group);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(5);
    body();
    partner_ready();
    for (;;)
        if (waitpid(-1, NULL, 0) < 0)
            pause();
}

void fixture_start(struct slot *s, const char *name, void (*body)(void))
{
    int ends[2], status = 0;
    char answer;
    if (fixture_count == MOST_PARTNERS || pipe2(ends, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    pid_t parent = getpid(), process = fork();
    if (process == 0) {
        close(ends[0]);
        ready_end = ends[1];
        be_fixture(parent, body);
    }
    close(ends[1]);
    if (process < 0)
        fail(s, "fork");
    ssize_t got;
    do
        got = read(ends[0], &answer, 1);
    while (got < 0 && errno == EINTR);
    close(ends[0]);
    if (got != 1) {
        kill(-process, SIGKILL);
        waitpid(process, &status, 0);
        fail_because(s, arena_text("FIXTURE(%s)", name), "it ended before it was ready");
    }
    fixtures[fixture_count++] = process;
}

bool is_fixture(pid_t process)
{
    for (size_t i = 0; i < fixture_count; i++)
        if (fixtures[i] == process)
            return true;
    return false;
}

void other_side_start(struct slot *s, void (*work)(void *), void *argument)
{
    if (other_count == MOST_PARTNERS)
        fail_because(s, "OTHER_SIDE", "it has too many");
    int second = pin_second();
    pid_t parent = getpid(), process = fork();
    if (process < 0)
        fail(s, "fork of OTHER_SIDE");
    if (process > 0) {
        others[other_count++] = process;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(5);
    if (second >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(second, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            _exit(6);
    }
    work(argument);
    _exit(0);
}

const char *other_sides_end(void)
{
    const char *reason = NULL;
    for (size_t i = 0; i < other_count; i++) {
        int status = 0;
        pid_t ended = 0;
        for (int ms = 0; ms < PATIENCE_MS && (ended = waitpid(others[i], &status, WNOHANG)) == 0; ms++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        if (ended == 0) {
            kill(others[i], SIGKILL);
            waitpid(others[i], &status, 0);
            reason = "its OTHER_SIDE did not end with it";
        } else if (status != 0) {
            reason = WIFSIGNALED(status) ? arena_text("its OTHER_SIDE was killed by signal %d", WTERMSIG(status))
                                         : arena_text("its OTHER_SIDE ended with status %d", WEXITSTATUS(status));
        }
    }
    other_count = 0;
    return reason;
}

void other_sides_kill(void)
{
    for (size_t i = 0; i < other_count; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    other_count = 0;
}
