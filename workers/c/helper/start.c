/* Sets up a process and becomes another program; finds a shared library: what the laboratory would need unsafe
 * code for. */
#include "core.h"
#include "verb.h"
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

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
    /* A method that has a memory bound reads what it was charged there. */
    if (setenv("PAGEWISE_CGROUP", directory, 1) != 0)
        stop("setenv", strerror(errno));
}

/* Several libraries are preloaded in the order of their options; what the environment had before is not. */
static void preload(const char *library)
{
    static char all[8192];
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", used ? ":" : "", library);
    if (setenv("LD_PRELOAD", all, 1) != 0)
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
    char self[4096], program[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = 0;
        setenv("PAGEWISE_HELPER", self, 0);
    }
    /* A program that is executed by its descriptor keeps the name of its file. */
    char **words = argv + i + 1, *path = *words;
    length = strncmp(path, "/proc/", 6) == 0 ? readlink(path, program, sizeof program - 1) : -1;
    if (length > 0) {
        program[length] = 0;
        *words = program;
    }
    execvp(path, words);
    stop(path, strerror(errno));
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
    if (strchr(argv[0], '/'))
        return 1; /* A name is searched for, a path would be loaded from wherever it leads. */
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

VERB("exec",
     "[--parent PID] [--cpus LIST] [--cgroup DIR]… [--address-space BYTES] [--preload LIB] [--set VAR=VALUE]… -- PROGRAM ARG…",
     exec_main);
VERB("pin", "THREAD CPUS", pin_main);
VERB("find-library", "NAME", find_library_main);
