/* `attach PARENT PID STARTED MS FAULTS KERNEL [STACKS PERIOD]`: follows a process that runs already for a while and prints what
 * it cost in that time, in the shape of `try`: one in FAULTS of its page faults, or, where KERNEL is not 0, its time in the
 * kernel once in so many nanoseconds. Nothing is stopped, and closing the events is all there is to detach.
 * A process that began at another clock tick than STARTED has only got the number of one that ended; 0 is any. */
#include "core.h"
#include "faults.h"
#include "helper/process.h"
#include "helper/proof.h"
#include "helper/verb.h"
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

/* The rings have room for seconds, so that it wakes seldom: the process may need the processors. */
enum { LOOK_MS = 50 };

struct used {
    uint64_t switches[2]; /* voluntary and not */
    uint64_t cpu_ns, user_ticks, system_ticks, minor_faults, major_faults, rss_kib, started;
    struct process_io io;
};

/* What a process has used so far; false where it is gone. */
static bool look(pid_t pid, struct used *used)
{
    char path[64], text[4096];
    clockid_t clock;
    struct timespec cpu;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = 0;
    const char *rest = strrchr(text, ')'); /* the name before it may hold anything */
    unsigned long minor, major, user, system;
    unsigned long long started;
    long rss;
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu %*u %ld",
                        &minor, &major, &user, &system, &started, &rss) < 6)
        return false;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &cpu) != 0)
        return false;
    *used = (struct used){{0}, (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec, user, system, minor, major,
                          (uint64_t)rss * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024), started, {{0}}};
    process_io(pid, "io", &used->io);
    return true;
}

/* Counts the context switches of all threads that it has; none where it has ended, as its number may be another's. */
static void look_at_switches(pid_t pid, int process, struct used *used)
{
    used->switches[0] = used->switches[1] = 0;
    if (process_has_ended(process))
        return;
    static const char *const names[] = {"\nvoluntary_ctxt_switches:", "\nnonvoluntary_ctxt_switches:"};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char *text = task->d_name[0] == '.' ? NULL : process_text((pid_t)atoi(task->d_name), "status", NULL);
        for (int i = 0; text && i < 2; i++) {
            uint64_t count = process_field(text, names[i]);
            used->switches[i] += count == UINT64_MAX ? 0 : count;
        }
        free(text);
    }
    if (tasks)
        closedir(tasks);
}

/* CPU time of this program itself so far. */
static uint64_t own_us(void)
{
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    const struct timeval *user = &own.ru_utime, *system = &own.ru_stime;
    return (uint64_t)(user->tv_sec + system->tv_sec) * 1000000 + (uint64_t)(user->tv_usec + system->tv_usec);
}

static void print_cost(const struct used *from, const struct used *to, uint64_t wall_ns, bool ended)
{
    uint64_t cpu_us = (to->cpu_ns - from->cpu_ns) / 1000, system = to->system_ticks - from->system_ticks;
    uint64_t ticks = to->user_ticks - from->user_ticks + system, system_us = ticks ? cpu_us * system / ticks : 0;
    printf("{\"end\":\"exit\",\"code\":0,\"wall_ns\":%llu,\"user_us\":%llu,\"system_us\":%llu,\"max_rss_kib\":%llu,",
           (unsigned long long)wall_ns, (unsigned long long)(cpu_us - system_us), (unsigned long long)system_us,
           (unsigned long long)to->rss_kib);
    printf("\"minor_faults\":%llu,\"major_faults\":%llu,", (unsigned long long)(to->minor_faults - from->minor_faults),
           (unsigned long long)(to->major_faults - from->major_faults));
    static const char *const names[] = {"voluntary", "involuntary"};
    for (int i = 0; i < 2; i++) /* fewer where threads have ended */
        printf("\"%s_switches\":%llu,", names[i],
               (unsigned long long)(to->switches[i] > from->switches[i] ? to->switches[i] - from->switches[i] : 0));
    printf("\"output_bytes\":0,\"output_hash\":\"\",\"error_bytes\":0,\"left\":0,\"not_evicted\":0");
    struct process_io io = process_io_since(&to->io, &from->io);
    process_io_print(&io);
    if (ended)
        printf(",\"process_ended\":true");
    if (wall_ns)
        faults_print();
    if (!ended)
        proof_print_modules();
    printf(",\"observer_us\":%llu}\n", (unsigned long long)own_us());
}

static int attach_main(int argc, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != (pid_t)atoi(argv[0]))
        return 3;
    pid_t pid = (pid_t)atoi(argv[1]);
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    int signals = signalfd(-1, &ending, SFD_CLOEXEC), process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct used from = {0}, to, now;
    uint64_t started = strtoull(argv[2], NULL, 10);
    /* What has not ended by now has had the number all along. */
    bool same = process >= 0 && look(pid, &from) && (!started || from.started == started) && !process_has_ended(process);
    if (same)
        faults_attach(pid, (struct follow){.process = process, .stacks = argc > 7 ? argv[6] : NULL,
                                           .stack_period = argc > 7 ? strtoull(argv[7], NULL, 10) : 0,
                                           .period = strtoull(argv[4], NULL, 10), .kernel_ns = strtoull(argv[5], NULL, 10)});
    if (!same || process_has_ended(process) || !look(pid, &from)) {
        print_cost(&from, &from, 0, true);
        return 0;
    }
    if (faults_reason()[0] && !strtoull(argv[5], NULL, 10)) {
        dprintf(2, "process %d cannot be followed: %s\n", pid, faults_reason());
        return 3;
    }
    proof_look_at_modules(pid);
    look_at_switches(pid, process, &from);
    uint64_t begun = now_ns(), until = begun + strtoull(argv[3], NULL, 10) * 1000000;
    to = from;
    struct pollfd watched[] = {{signals, POLLIN, 0}, {process, POLLIN, 0}, {faults_descriptor(), POLLIN, 0}};
    while (now_ns() < until && !watched[0].revents && !watched[1].revents) {
        poll(watched, 3, LOOK_MS);
        faults_read();
        uint64_t most_kib = to.rss_kib;
        if (look(pid, &now) && now.started == from.started)
            to = now;
        to.rss_kib = to.rss_kib > most_kib ? to.rss_kib : most_kib; /* none where it has ended */
    }
    look_at_switches(pid, process, &to);
    print_cost(&from, &to, now_ns() - begun, process_has_ended(process));
    return 0;
}

VERB("attach", "PARENT PID STARTED MS FAULTS KERNEL [STACKS] [PERIOD]", attach_main);
