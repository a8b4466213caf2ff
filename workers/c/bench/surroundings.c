/* Looks at a process before and after a function, and puts back what the function has changed. */
#include "surroundings.h"
#include "partners.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { KEPT_DESCRIPTORS = 100 }; /* from here on: a function's own are lower */

static const struct {
    int number;
    const char *name;
} watched_signals[SIGNALS] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"},
                       {SIGABRT, "SIGABRT"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGALRM, "SIGALRM"},
                       {SIGCHLD, "SIGCHLD"}, {SIGPIPE, "SIGPIPE"}};
static const struct {
    int number;
    const char *name;
} watched_limits[LIMITS] = {{RLIMIT_STACK, "the stack"}, {RLIMIT_NOFILE, "open files"}, {RLIMIT_AS, "the address space"},
                      {RLIMIT_DATA, "data"}, {RLIMIT_MEMLOCK, "locked memory"}, {RLIMIT_CPU, "CPU time"},
                      {RLIMIT_FSIZE, "file sizes"}};

/* The standard descriptors and the working folder as they were at first. */
static int kept[STANDARD], kept_folder;

/* What a function prints is no part of the transcript: it goes nowhere. */
__attribute__((constructor(101))) static void keep_transcript(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), transcript = fcntl(1, F_DUPFD_CLOEXEC, KEPT_DESCRIPTORS);
    if (nowhere < 0 || transcript < 0)
        return;
    transcript_fd = transcript;
    dup2(nowhere, 1);
    close(nowhere);
    for (int i = 0; i < STANDARD; i++)
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, KEPT_DESCRIPTORS);
    kept_folder = open(".", O_PATH | O_CLOEXEC | O_DIRECTORY);
}

static void look_at_files(struct surroundings *into)
{
    memset(into->files, 0, sizeof into->files);
    for (int i = 0; i < STANDARD; i++)
        fstat(i, &into->files[i]);
    stat(".", &into->folder);
    umask(into->creation_mask = umask(0));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *put_files_back(const struct surroundings *before, const struct surroundings *now)
{
    const char *changed = NULL;
    for (int i = 0; i < STANDARD; i++)
        if (!is_same(&before->files[i], &now->files[i])) {
            changed = arena_text("it closed or replaced descriptor %d", i);
            dup2(kept[i], i);
        }
    if (!is_same(&before->folder, &now->folder)) {
        changed = "it changed the working folder";
        (void)!fchdir(kept_folder);
    }
    if (before->creation_mask != now->creation_mask) {
        changed = "it changed the mask of new files (umask)";
        umask(before->creation_mask);
    }
    return changed;
}

void look_around(struct surroundings *into)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(watched_signals[i].number, NULL, &into->handlers[i]);
    for (int i = 0; i < LIMITS; i++)
        getrlimit(watched_limits[i].number, &into->limits[i]);
    sigprocmask(SIG_BLOCK, NULL, &into->blocked);
    look_at_files(into);
}

const char *put_back(const struct surroundings *before)
{
    struct surroundings now;
    look_around(&now);
    const char *changed = put_files_back(before, &now);
    for (int i = 0; i < SIGNALS; i++)
        if (now.handlers[i].sa_handler != before->handlers[i].sa_handler) {
            changed = arena_text("it changed the handler of %s", watched_signals[i].name);
            sigaction(watched_signals[i].number, &before->handlers[i], NULL);
        }
    for (int i = 0; i < LIMITS; i++)
        if (now.limits[i].rlim_cur != before->limits[i].rlim_cur || now.limits[i].rlim_max != before->limits[i].rlim_max) {
            changed = arena_text("it changed the limit of %s", watched_limits[i].name);
            setrlimit(watched_limits[i].number, &before->limits[i]);
        }
    for (int number = 1; number < 32; number++)
        if (sigismember(&now.blocked, number) != sigismember(&before->blocked, number))
            changed = arena_text("it changed which signals are blocked (%s)", strsignal(number));
    sigprocmask(SIG_SETMASK, &before->blocked, NULL);
    return changed;
}

/* Kills the children of all threads but fixtures; how many there were. The children of a child that ends become this
 * process's own. */
static int kill_children(void)
{
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads && (thread = readdir(threads));) {
        char path[sizeof "/proc/self/task//children" + sizeof thread->d_name];
        snprintf(path, sizeof path, "/proc/self/task/%s/children", thread->d_name);
        FILE *children = fopen(path, "re");
        for (int child; children && fscanf(children, "%d", &child) == 1;)
            if (!is_fixture(child)) {
                kill(child, SIGKILL);
                count++;
            }
        if (children)
            fclose(children);
    }
    if (threads)
        closedir(threads);
    return count;
}

bool left_a_process(void)
{
    bool any = false;
    for (siginfo_t child = {0}; waitid(P_ALL, 0, &child, WEXITED | WNOHANG) == 0; child.si_pid = 0) {
        /* Those that are left run. Fixtures stay, and where the children cannot be listed, all do. */
        if (child.si_pid == 0 && kill_children() == 0)
            return any;
        any |= child.si_pid == 0 || !is_fixture(child.si_pid);
    }
    return any;
}

void check_transcript(const struct method *method)
{
    if (fcntl(transcript_fd, F_GETFD) >= 0)
        return;
    dup2(kept[2], 2);
    dprintf(2, "%s closed descriptors that it did not open\n", method->name);
    _exit(3);
}
