/* Sets up a process and becomes another program; finds a shared library; puts things back: what the laboratory would need
 * unsafe code for. */
#include "core.h"
#include "verb.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <sys/stat.h>

__attribute__((noreturn)) static void stop(const char *what, const char *why)
{
    dprintf(2, "exec: %s: %s\n", what, why);
    _exit(3);
}

static void write_file(const char *path, const char *text, bool must)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if ((fd < 0 || write(fd, text, strlen(text)) < 0) && must)
        stop(path, strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void die_with_parent(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        stop("prctl(PR_SET_PDEATHSIG)", strerror(errno));
    /* The parent may have died before the line above; then no signal will ever come. */
    if (parent && getppid() != parent)
        stop("parent", "it has ended already");
}

void set_affinity(int thread, const char *list)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    char *end;
    for (const char *p = list; *p; p = end + (*end == ',')) {
        long from = strtol(p, &end, 10), to = from;
        if (end == p || from < 0)
            stop("--cpus", "not a list like 0,2-3");
        if (*end == '-')
            to = strtol(end + 1, &end, 10);
        for (long cpu = from; cpu <= to && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, &set);
    }
    if (sched_setaffinity(thread, sizeof set, &set) != 0)
        stop("sched_setaffinity", strerror(errno));
}

static void join_cgroup(const char *directory)
{
    char path[4096], pid[16];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    snprintf(pid, sizeof pid, "%d", getpid());
    write_file(path, pid, true);
}

static void preload(const char *library)
{
    if (setenv("LD_PRELOAD", library, 1) != 0)
        stop("setenv", strerror(errno));
}

void set_variable(char *text)
{
    if (!strchr(text, '=') || putenv(text) != 0)
        stop("--set", "not VAR=VALUE");
}

static void option(const char *name, char *value)
{
    if (strcmp(name, "--parent") == 0)
        die_with_parent((pid_t)atoi(value));
    else if (strcmp(name, "--cpus") == 0)
        set_affinity(0, value);
    else if (strcmp(name, "--cgroup") == 0)
        join_cgroup(value);
    else if (strcmp(name, "--address-space") == 0) {
        struct rlimit limit = {strtoull(value, NULL, 10), strtoull(value, NULL, 10)};
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            stop("setrlimit", strerror(errno));
    } else if (strcmp(name, "--preload") == 0)
        preload(value);
    else if (strcmp(name, "--set") == 0)
        set_variable(value);
    else
        stop(name, "unknown option");
}

static int exec_main(int argc, char **argv)
{
    die_with_parent(0);
    /* The worker, not the laboratory, is to go when memory runs out. Raising one's own score needs no privilege. */
    write_file("/proc/self/oom_score_adj", "1000", false);
    int i = 0;
    for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
        if (i + 1 >= argc)
            stop(argv[i], "needs a value");
        option(argv[i], argv[i + 1]);
    }
    if (i + 1 >= argc)
        stop("--", "no program");
    /* What another language's worker cannot do itself it asks of this program. */
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = 0;
        setenv("PAGEWISE_HELPER", self, 1);
    }
    execvp(argv[i + 1], argv + i + 1);
    stop(argv[i + 1], strerror(errno));
}

static int pin_main(int argc, char **argv)
{
    (void)argc;
    set_affinity(atoi(argv[0]), argv[1]);
    return 0;
}

static int print_if_named(struct dl_phdr_info *object, size_t size, void *name)
{
    (void)size;
    const char *slash = strrchr(object->dlpi_name, '/');
    if (!slash || strcmp(slash + 1, name) != 0)
        return 0;
    printf("%s\n", object->dlpi_name);
    fflush(stdout);
    return 1;
}

/* Looks for the library in the way in which it will be used: preloaded into this very program. dlopen() would not do, as
 * libraries that need thread-local storage from the start (jemalloc) can only be loaded with the program. */
static int find_library_main(int argc, char **argv)
{
    (void)argc;
    static const char second_try[] = "PAGEWISE_FIND_LIBRARY";
    if (getenv(second_try))
        /* Allocators may not survive being finalised, so the process ends here and now. */
        _exit(dl_iterate_phdr(print_if_named, argv[0]) ? 0 : 1);
    preload(argv[0]);
    setenv(second_try, argv[0], 1);
    /* The loader complains of what it does not find; the exit status says it. */
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, 2);
    execl("/proc/self/exe", "pagewise-helper", "find-library", argv[0], (char *)NULL);
    return 1;
}

/* ---- guard ---- */

static char **undo_lines;
static size_t undo_count, undo_room;

/* Only what is kept is said to be noted. */
static bool note(const char *line)
{
    if (undo_count == undo_room) {
        size_t room = undo_room ? 2 * undo_room : 64;
        char **more = realloc(undo_lines, room * sizeof *more);
        if (!more)
            return false;
        undo_lines = more;
        undo_room = room;
    }
    char *kept = strdup(line);
    if (kept)
        undo_lines[undo_count++] = kept;
    return kept != NULL;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

/* Removes what a run may have left in a folder shared with others, such as /dev/shm: only names with the run's prefix. */
static void remove_prefixed(const char *directory, const char *prefix)
{
    DIR *open_directory = opendir(directory);
    struct dirent *entry;
    char path[4096];
    while (open_directory && strlen(prefix) > 8 && (entry = readdir(open_directory)))
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
            nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
        }
    if (open_directory)
        closedir(open_directory);
}

/* A cgroup can be removed once its last process is gone, and a worker that is being killed may take a moment to go. */
static void remove_directory(const char *path)
{
    for (int tries = 0; rmdir(path) != 0 && errno == EBUSY && tries < 300; tries++) {
        struct timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
    }
}

static void undo(char *line)
{
    char *verb = strtok(line, " "), *path = strtok(NULL, ""), *text = NULL;
    if (!verb || !path)
        return;
    /* The paths of `write` are the kernel's, whose text may have spaces; elsewhere it is the path that may have them. */
    if (strcmp(verb, "write") == 0)
        text = strchr(path, ' ');
    else if (strcmp(verb, "remove-prefix") == 0)
        text = strrchr(path, ' ');
    if (text)
        *text++ = 0;
    if (strcmp(verb, "write") == 0 && text)
        write_file(path, text, false);
    else if (strcmp(verb, "unlink") == 0)
        unlink(path);
    else if (strcmp(verb, "rmdir") == 0)
        remove_directory(path);
    else if (strcmp(verb, "remove-prefix") == 0 && text)
        remove_prefixed(path, text);
    else if (strcmp(verb, "kill-group") == 0 && atoi(path) > 1)
        kill(-atoi(path), SIGKILL);
}

/* Outlives the laboratory: it leaves its process group, ignores what Ctrl-C sends, and acts when its input ends. */
static int guard_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    /* A laboratory that is killed between a line and its answer must not take the guard with it. */
    signal(SIGPIPE, SIG_IGN);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    printf("ready\n");
    fflush(stdout);
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        line[strcspn(line, "\n")] = 0;
        bool noted = strncmp(line, "undo ", 5) != 0 || note(line + 5);
        printf(noted ? "noted\n" : "full\n");
        fflush(stdout);
    }
    while (undo_count)
        undo(undo_lines[--undo_count]);
    return 0;
}

VERB("exec",
     "[--parent PID] [--cpus LIST] [--cgroup DIR]… [--address-space BYTES] [--preload LIB] [--set VAR=VALUE]… -- PROGRAM ARG…",
     exec_main);
VERB("pin", "THREAD CPUS", pin_main);
VERB("find-library", "NAME", find_library_main);
VERB("guard", "", guard_main);
