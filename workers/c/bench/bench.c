/* Describes the functions of somebody's file by the marks that its macros leave, and runs them. */
#include "core.h"
#undef PHASE
#include "pagewise.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern const struct bench_mark *const __start_pagewise_marks[] __attribute__((weak));
extern const struct bench_mark *const __stop_pagewise_marks[] __attribute__((weak));

/* Marks of one kind between two lines, in the order of their lines, each text once. */
static size_t marks(char kind, int from, int to, const struct bench_mark **into, size_t most)
{
    size_t count = 0;
    for (const struct bench_mark *const *m = __start_pagewise_marks; m < __stop_pagewise_marks; m++) {
        if ((*m)->kind != kind || (*m)->line < from || (*m)->line >= to || count == most)
            continue;
        size_t at = 0;
        while (at < count && strcmp(into[at]->text, (*m)->text) != 0)
            at++;
        if (at < count)
            continue;
        for (at = count++; at > 0 && into[at - 1]->line > (*m)->line; at--)
            into[at] = into[at - 1];
        into[at] = *m;
    }
    return count;
}

enum { MOST_MARKS = 64, NO_LINE = 1 << 30 };

/* Functions that are compared with a built-in method are methods of its experiment, with its parameters; a function that is
 * timed as a whole passes the phase that is the work there. */
#ifdef PAGEWISE_EXPERIMENT
enum { JOINED = 1 };
static const char *const EXPERIMENT = PAGEWISE_EXPERIMENT, *const KEYS = PAGEWISE_KEYS;
static const char *const GROUP = PAGEWISE_GROUP, *const UNIT = PAGEWISE_UNIT;
static const char WHOLE[] = PAGEWISE_PHASE;
#else
enum { JOINED = 0 };
static const char *const EXPERIMENT = "bench", *const KEYS = "", *const GROUP = NULL, *const UNIT = "";
static const char WHOLE[] = "run";
#endif

/* Line of the function after this one. */
static int end_of(int line)
{
    int end = NO_LINE;
    for (const struct bench_mark *const *m = __start_pagewise_marks; m < __stop_pagewise_marks; m++)
        if (((*m)->kind == 'b' || (*m)->kind == 'B') && (*m)->line > line && (*m)->line < end)
            end = (*m)->line;
    return end;
}

static const char *joined(char kind, int from, int to, const char *between)
{
    const struct bench_mark *found[MOST_MARKS];
    size_t count = marks(kind, from, to, found, MOST_MARKS);
    const char *text = NULL;
    for (size_t i = 0; i < count; i++)
        text = text ? arena_text("%s%s%s", text, between, found[i]->text) : found[i]->text;
    return text;
}

/* A parameter's kind: sizes end in B. */
static const char *kind_of(const struct bench_mark *parameter)
{
    size_t length = strlen(parameter->values);
    return length && parameter->values[length - 1] == 'B' ? "size" : "number";
}

/* The state of the page cache that a cell asks for is proved before each turn. */
#define FILE_LAWS "cache=hot: 64 * resident_before_bytes >= 63 * bytes; cache=cold: resident_before_bytes == 0"

static bool takes_file(const struct method *method)
{
    return strstr(method->keys, "file:text") && strstr(method->keys, "cache:");
}

void bench_describe(struct method *method, int line)
{
    const struct bench_mark *found[MOST_MARKS];
    size_t count = marks('k', 0, NO_LINE, found, MOST_MARKS);
    const char *keys = "";
    for (size_t i = 0; i < count; i++)
        keys = arena_text("%s%s%s:%s", keys, i ? " " : "", found[i]->text, kind_of(found[i]));
    const char *phases = joined('p', line, end_of(line), " ");
    method->experiment = EXPERIMENT;
    method->group = GROUP;
    method->phases = phases ? phases : WHOLE;
    method->laws = joined('l', line, end_of(line), "; ");
    method->keys = keys = JOINED ? KEYS : keys;
    if (takes_file(method))
        method->laws = arena_text("%s%s" FILE_LAWS, method->laws ? method->laws : "", method->laws ? "; " : "");
    method->memory = strncmp(keys, "bytes:size", 10) == 0 ? "bytes" : "0";
    method->summary = arena_text("%s, line %d of %s", method->name, line, strrchr(method->source, '/') ?
                                 strrchr(method->source, '/') + 1 : method->source);
}

/* Result of this turn. It is recorded after the body: a function that is timed as a whole does not pay for its proof. */
static uint64_t result;
static bool has_result;

/* Process that runs a body now; 0 between bodies. */
static pid_t running;

/* A body that ends the process takes the samples with it: the laboratory learns which one did. */
static void ended(void)
{
    if (running == getpid() && current_slot >= 0)
        dprintf(transcript_fd, "crash\t%d\t%d\t%s\texit(3)\n", current_slot, current_cell, current_phase ? current_phase : "-");
}

/* What the helper answered to these arguments, in memory that is no heap's. */
static const char *answered(struct slot *slot, char **arguments)
{
    static char text[4096];
    int ends[2];
    pid_t process;
    if (pipe2(ends, O_CLOEXEC) != 0)
        fail(slot, "pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    errno = posix_spawn(&process, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; errno == 0 && (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = 0;
    close(ends[0]);
    if (errno != 0 || waitpid(process, NULL, 0) != process)
        fail(slot, "posix_spawn");
    return text;
}

/* Puts the file's cached pages into the state that the cell asks for, as the built-in methods do (helper: prepare-file). */
static void prepare_file(struct slot *slot)
{
    static const char *made_hot;
    const char *file = key_word(slot, "file");
    bool hot = key_is(slot, "cache", "hot");
    char *arguments[MAX_PARAMETERS + 4] = {(char *)helper_path(slot), "prepare-file"};
    size_t count = 2;
    for (int i = 0; i < slot->cell->parameter_count; i++)
        arguments[count++] = (char *)arena_text("%s=%s", slot->cell->parameters[i].key, slot->cell->parameters[i].value);
    arguments[count] = hot && made_hot && strcmp(made_hot, file) == 0 ? "kept=yes" : "kept=no";
    const char *answer = answered(slot, arguments);
    if (strncmp(answer, "skip", 4) == 0 || strncmp(answer, "fail", 4) == 0)
        skip(slot, arena_text("prepare-file: %.*s", (int)strcspn(answer, "\n"), answer));
    const char *resident = strstr(answer, "resident_before_bytes ");
    if (resident)
        fact(slot, "resident_before_bytes", strtoull(resident + strlen("resident_before_bytes "), NULL, 10));
    made_hot = hot ? file : NULL;
}

/* What a function must leave as it found it, because the functions after it run in the same process. */
static const struct {
    int number;
    const char *name;
} watched_signals[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGILL, "SIGILL"}, {SIGFPE, "SIGFPE"},
                       {SIGABRT, "SIGABRT"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGALRM, "SIGALRM"},
                       {SIGCHLD, "SIGCHLD"}, {SIGPIPE, "SIGPIPE"}};
static const struct {
    int number;
    const char *name;
} watched_limits[] = {{RLIMIT_STACK, "the stack"}, {RLIMIT_NOFILE, "open files"}, {RLIMIT_AS, "the address space"},
                      {RLIMIT_DATA, "data"}, {RLIMIT_MEMLOCK, "locked memory"}, {RLIMIT_CPU, "CPU time"},
                      {RLIMIT_FSIZE, "file sizes"}};
enum {
    STANDARD = 3,
    KEPT_DESCRIPTORS = 100, /* from here on: a function's own are lower */
    SIGNALS = sizeof watched_signals / sizeof *watched_signals,
    LIMITS = sizeof watched_limits / sizeof *watched_limits,
};
struct surroundings {
    struct sigaction handlers[SIGNALS];
    struct rlimit limits[LIMITS];
    sigset_t blocked;
    struct stat files[STANDARD], folder;
    mode_t creation_mask;
};

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

static void look_around(struct surroundings *into)
{
    for (int i = 0; i < SIGNALS; i++)
        sigaction(watched_signals[i].number, NULL, &into->handlers[i]);
    for (int i = 0; i < LIMITS; i++)
        getrlimit(watched_limits[i].number, &into->limits[i]);
    sigprocmask(SIG_BLOCK, NULL, &into->blocked);
    look_at_files(into);
}

/* Takes back what a function has changed, and names it. */
static const char *put_back(const struct surroundings *before)
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

/* Kills the children of all threads; how many there were. The children of a child that ends become this process's own. */
static int kill_children(void)
{
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *thread; threads && (thread = readdir(threads));) {
        char path[sizeof "/proc/self/task//children" + sizeof thread->d_name];
        snprintf(path, sizeof path, "/proc/self/task/%s/children", thread->d_name);
        FILE *children = fopen(path, "re");
        for (int child; children && fscanf(children, "%d", &child) == 1; count++)
            kill(child, SIGKILL);
        if (children)
            fclose(children);
    }
    if (threads)
        closedir(threads);
    return count;
}

/* Ends processes that a body left behind: it forked and did not wait, or returned in both processes. */
static bool left_a_process(void)
{
    static bool is_helpless;
    bool any = false;
    for (siginfo_t child = {0}; !is_helpless && waitid(P_ALL, 0, &child, WEXITED | WNOHANG) == 0; child.si_pid = 0) {
        any = true;
        is_helpless = child.si_pid == 0 && kill_children() == 0;
    }
    return any;
}

/* Ends the launch where a body closed the transcript: nothing can be recorded any more. */
static void check_transcript(const struct method *method)
{
    if (fcntl(transcript_fd, F_GETFD) >= 0)
        return;
    dup2(kept[2], 2);
    dprintf(2, "%s closed descriptors that it did not open\n", method->name);
    _exit(3);
}

void bench_run(struct slot *slot, const struct method *method, void (*body)(struct slot *))
{
    static bool watched;
    if (!watched)
        watched = atexit(ended) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    has_result = false;
    if (strcmp(UNIT, "byte") == 0 && slot->bytes)
        slot->ops = slot->bytes;
    if (strcmp(UNIT, "page") == 0 && slot->bytes)
        slot->ops = slot->bytes / slot->page_bytes;
    if (takes_file(method))
        prepare_file(slot);
    struct surroundings before;
    if (slot->proofs)
        look_around(&before);
    running = getpid();
    if (method->phases == WHOLE) {
        phase_begin(slot, WHOLE, 0);
        body(slot);
        phase_end(slot);
    } else {
        body(slot);
    }
    if (getpid() != running)
        _exit(0);
    running = 0;
    check_transcript(method);
    const char *changed = slot->proofs ? put_back(&before) : NULL;
    if (left_a_process())
        changed = "it left behind a process that it forked";
    if (changed)
        fail_because(slot, method->name, changed);
    if (has_result)
        fact_digest_value(slot, result);
}

void bench_result(uint64_t value)
{
    result = value;
    has_result = true;
}

#ifndef PAGEWISE_EXPERIMENT
static void empty(struct slot *slot)
{
    for (const char *p = slot->cell->method->phases; *p;) {
        size_t length = strcspn(p, " ");
        phase_begin(slot, arena_text("%.*s", (int)length, p), 0);
        phase_end(slot);
        p += length + strspn(p + length, " ");
    }
}

static struct method nothing;
__attribute__((used, section("pagewise_methods"))) static const struct method *const nothing_listed = &nothing;

/* The floor of this file's phases, its parameters with their values, and its baseline. */
__attribute__((constructor)) static void describe_file(void)
{
    nothing = (struct method){.name = "empty", .role = "null", .run = empty, .source = __FILE__};
    bench_describe(&nothing, 0);
    nothing.summary = "An empty body: the cost of the stopwatch alone.";
    const char *phases = joined('p', 0, NO_LINE, " ");
    nothing.phases = phases ? phases : WHOLE;
    nothing.laws = NULL;
    nothing.memory = "0";
}
#endif

void about_more(void)
{
    const struct bench_mark *found[MOST_MARKS];
    size_t count = marks('k', 0, NO_LINE, found, MOST_MARKS);
    for (size_t i = 0; i < count; i++)
        out("about\tparameter\t%s\t%s\t%s\n", found[i]->text, kind_of(found[i]), found[i]->values);
    const char *baseline = joined('B', 0, NO_LINE, ",");
    if (!baseline && marks('b', 0, NO_LINE, found, MOST_MARKS))
        baseline = found[0]->text;
    if (baseline)
        out("about\tbaseline\t%s\n", baseline);
#ifdef PAGEWISE_LIBRARY
    Dl_info from;
    if (marks('b', 0, NO_LINE, found, 1) && dladdr(dlsym(RTLD_DEFAULT, found[0]->text), &from) && strrchr(from.dli_fname, '/'))
        out("about\tlibrary\t%s\n", from.dli_fname);
#endif
    out("about\tresults\t%s\n", joined('r', 0, NO_LINE, " ") ? "yes" : "no");
}
