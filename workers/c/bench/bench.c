/* Describes the functions of somebody's file by the marks that its macros leave, and runs them. */
#include "core.h"
#undef PHASE
#include "build.h"
#include "pagewise.h"
#include "partners.h"
#include "settle.h"
#include "surroundings.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern const struct pagewise_mark *const __start_pagewise_marks[] __attribute__((weak));
extern const struct pagewise_mark *const __stop_pagewise_marks[] __attribute__((weak));

/* Marks of one kind between two lines, in the order of their lines, each text once. */
static size_t marks(char kind, int from, int to, const struct pagewise_mark **into, size_t most)
{
    size_t count = 0;
    for (const struct pagewise_mark *const *m = __start_pagewise_marks; m < __stop_pagewise_marks; m++) {
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
static bool joined_experiment(void)
{
    return pagewise_build.experiment != NULL;
}

static const char *whole_phase(void)
{
    return joined_experiment() ? pagewise_build.phase : "run";
}

const char *worker_name(void)
{
    return program_invocation_short_name;
}

const char *worker_compiler(void)
{
    return pagewise_build.compiler;
}

const char *worker_flags(void)
{
    return pagewise_build.flags;
}

/* Line of the function after this one. */
static int end_of(int line)
{
    int end = NO_LINE;
    for (const struct pagewise_mark *const *m = __start_pagewise_marks; m < __stop_pagewise_marks; m++)
        if (((*m)->kind == 'b' || (*m)->kind == 'B') && (*m)->line > line && (*m)->line < end)
            end = (*m)->line;
    return end;
}

static const char *joined(char kind, int from, int to, const char *between)
{
    const struct pagewise_mark *found[MOST_MARKS];
    size_t count = marks(kind, from, to, found, MOST_MARKS);
    const char *text = NULL;
    for (size_t i = 0; i < count; i++)
        text = text ? arena_text("%s%s%s", text, between, found[i]->text) : found[i]->text;
    return text;
}

/* Units of a number that is no size, in the unit that VALUE() gives: times in nanoseconds. */
static const struct {
    const char *name;
    double scale;
} units[] = {{"", 1},    {"k", 1e3},  {"K", 1e3},  {"M", 1e6},     {"G", 1e9},  {"ns", 1},
             {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}};

/* A number with a unit, without its sign; false where the text is none. */
static bool number_of(const char *text, uint64_t *into)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0) {
            *into = (uint64_t)(number * units[i].scale + 0.5);
            double rest = number * units[i].scale - (double)*into;
            return rest < 1e-6 && rest > -1e-6;
        }
    return false;
}

/* Parts of a list of values that are separated by commas, without the space around them; NULL after the last one. */
static const char *next_value(const char **rest)
{
    const char *from = *rest;
    if (!from)
        return NULL;
    size_t length = strcspn(from, ",");
    *rest = from[length] ? from + length + 1 : NULL;
    while (length && *from == ' ')
        from++, length--;
    while (length && from[length - 1] == ' ')
        length--;
    return arena_text("%.*s", (int)length, from);
}

static bool is_number(const char *text)
{
    return *text && (text[strspn(text, "0123456789")] == 0 || (strstr(text, "..") && text[strspn(text, "0123456789.*")] == 0));
}

/* Of a size or a range of sizes: the laboratory reads them. */
static bool is_size(const char *text)
{
    size_t length = strcspn(text, "*");
    return *text >= '0' && *text <= '9' && length && text[length - 1] == 'B';
}

/* Kind of a parameter: that of the protocol (`keys`), and the one by which the laboratory reads its values. Sizes end in B,
 * paths have a slash or a dot. Numbers with a unit stay as they are written until VALUE() reads them. */
struct kind {
    const char *key, *values;
};

static struct kind kind_of(const struct pagewise_mark *parameter)
{
    if (parameter->kind == 'i')
        return (struct kind){"size", "size"};
    if (parameter->kind == 't')
        return (struct kind){"count", "count"};
    bool numbers = true, sizes = true, has_units = true, paths = false, odd = false;
    const char *words = NULL, *rest = parameter->values;
    for (const char *value; (value = next_value(&rest));) {
        uint64_t number;
        numbers &= is_number(value);
        sizes &= is_number(value) || is_size(value);
        has_units &= number_of(value, &number);
        paths |= strpbrk(value, "/.") != NULL;
        odd |= !*value || value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+")];
        words = words ? arena_text("%s|%s", words, value) : value;
    }
    if (numbers || sizes)
        return (struct kind){numbers ? "number" : "size", numbers ? "number" : "size"};
    if (has_units || paths || odd)
        return (struct kind){"text", has_units ? "unit" : paths ? "path" : "text"};
    return (struct kind){words, "word"};
}

/* Marks of the parameters. */
static size_t parameters(const struct pagewise_mark **into)
{
    size_t count = 0;
    for (const char *kind = "kit"; *kind; kind++)
        count += marks(*kind, 0, NO_LINE, into + count, MOST_MARKS - count);
    return count;
}

/* The state of the page cache that a cell asks for is proved before each turn. */
#define FILE_LAWS "cache=hot: 64 * resident_before_bytes >= 63 * bytes; cache=cold: resident_before_bytes == 0"

static bool takes_file(const struct method *method)
{
    return strstr(method->keys, "file:text") && strstr(method->keys, "cache:");
}

static void run_function(struct slot *slot);

/* Functions of the file with their marks, in the order of the marks; the list of methods has these addresses. */
enum { MOST_FUNCTIONS = 256 };
static struct method described[MOST_FUNCTIONS];
static const struct pagewise_mark *marked[MOST_FUNCTIONS];
static bool is_whole[MOST_FUNCTIONS]; /* timed as a whole */
__attribute__((used, section("pagewise_methods"))) static const struct method *listed[MOST_FUNCTIONS];
static size_t function_count;

static const char *keys_of_file(void)
{
    const struct pagewise_mark *found[MOST_MARKS];
    size_t count = parameters(found);
    const char *keys = "";
    for (size_t i = 0; i < count; i++)
        keys = arena_text("%s%s%s:%s", keys, i ? " " : "", found[i]->text, kind_of(found[i]).key);
    return keys;
}

static void describe(const struct pagewise_mark *mark)
{
    if (function_count == MOST_FUNCTIONS) {
        dprintf(2, "more than %d functions\n", MOST_FUNCTIONS);
        _exit(2);
    }
    struct method *method = &described[function_count];
    const char *phases = joined('p', mark->line, end_of(mark->line), " ");
    if (!phases) /* those of what it calls, such as a helper that stands before the functions */
        phases = joined('p', 0, end_of(0), " ");
    const char *file = strrchr(mark->file, '/') ? strrchr(mark->file, '/') + 1 : mark->file;
    *method = (struct method){
        .experiment = joined_experiment() ? pagewise_build.experiment : "bench",
        .name = mark->text,
        .group = pagewise_build.group,
        .summary = arena_text("%s, line %d of %s", mark->text, mark->line, file),
        .phases = phases ? phases : whole_phase(),
        .keys = joined_experiment() ? pagewise_build.keys : keys_of_file(),
        .laws = joined('l', mark->line, end_of(mark->line), "; "),
        .run = run_function,
        .source = mark->file,
    };
    if (takes_file(method))
        method->laws = arena_text("%s%s" FILE_LAWS, method->laws ? method->laws : "", method->laws ? "; " : "");
    method->memory = strncmp(method->keys, "bytes:size", 10) == 0 ? "bytes" : "0";
    marked[function_count] = mark;
    is_whole[function_count] = !phases;
    listed[function_count++] = method;
}

/* Result of this turn. It is recorded after the body: a function that is timed as a whole does not pay for its proof. */
static uint64_t result;
static bool has_result, has_bytes, has_phase;

/* The turn that runs now. */
static struct slot *turn;

/* Process that runs a body now; 0 between bodies. */
static pid_t running;

/* A body that ends the process takes the samples with it: the laboratory learns which one did. */
static void ended(void)
{
    if (running != getpid() || current_slot < 0)
        return;
    if (in_child())
        fail_because(turn, turn->cell->method->name, "it called exit(3)");
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

/* True between the start of a phase and the work of its threads, which wait for it. */
static bool is_armed;

static void no_work(const struct part *part)
{
    (void)part;
}

/* Threads that still wait for work have none in this turn. */
static void release_threads(void)
{
    if (is_armed)
        on_every_thread(turn, no_work, NULL, 0, 0);
    is_armed = false;
}

/* Ends what a turn that ended early left running. */
static void leave_turn(void)
{
    release_threads();
    other_sides_kill();
}

enum { FIRST_KEPT = 100 }; /* descriptors from here on are not a function's own */

/* Starts the fixtures of the file, once in a process. */
static void start_fixtures(struct slot *slot)
{
    static bool is_done;
    const struct pagewise_mark *found[MOST_MARKS];
    size_t count = is_done ? 0 : marks('x', 0, NO_LINE, found, MOST_MARKS);
    turn = slot;
    if (count)
        pagewise_scratch(); /* before the fork, so that both have it by the same number */
    for (size_t i = 0; i < count; i++)
        fixture_start(slot, found[i]->text, found[i]->body);
    is_done = true;
}

static bool is_fresh(void)
{
    const struct pagewise_mark *found[1];
    return pagewise_build.is_fresh || marks('f', 0, NO_LINE, found, 1);
}

/* Path of an input of the file, of so many bytes. */
static const char *input_path(const char *name, size_t bytes)
{
    return arena_text("%s/input-%s-%zu", launch_directory(), name, bytes);
}

/* Inputs that are made, each by its mark and its bytes; beyond that many they are looked for in every turn. */
static struct {
    const struct pagewise_mark *mark;
    size_t bytes;
} made_inputs[MOST_MARKS];
static size_t made_count;

static bool is_made(const struct pagewise_mark *mark, size_t bytes)
{
    for (size_t i = 0; i < made_count; i++)
        if (made_inputs[i].mark == mark && made_inputs[i].bytes == bytes)
            return true;
    if (made_count < MOST_MARKS) {
        made_inputs[made_count].mark = mark;
        made_inputs[made_count++].bytes = bytes;
    }
    return false;
}

/* Makes the inputs of this turn that are not there yet. */
static void make_inputs(struct slot *slot)
{
    static uint64_t block[1 << 13];
    const struct pagewise_mark *found[MOST_MARKS];
    size_t count = marks('i', 0, NO_LINE, found, MOST_MARKS);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = key_size(slot, found[i]->text);
        if (is_made(found[i], bytes))
            continue;
        uint64_t seed = strtoull(found[i]->values + strlen(found[i]->values) + 1, NULL, 0);
        int file = open(input_path(found[i]->text, bytes), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno == EEXIST)
            continue;
        for (size_t at = 0; file >= 0 && at < bytes; at += sizeof block) {
            for (size_t k = 0; k < sizeof block / sizeof *block; k++)
                block[k] = pattern_word(seed, at / sizeof *block + k);
            size_t length = bytes - at < sizeof block ? bytes - at : sizeof block;
            if (write(file, block, length) != (ssize_t)length)
                fail(slot, "write of an INPUT");
        }
        if (file < 0 || close(file) != 0)
            fail(slot, "open of an INPUT");
    }
}

/* What the first touch of a new page costs here, in picoseconds: the least of a few passes over memory that is given back. */
static uint64_t new_page_ps(size_t page_bytes)
{
    enum { PAGES = 64, PASSES = 4 };
    static uint64_t least;
    for (int pass = least ? PASSES : 0; pass < PASSES; pass++) {
        volatile char *p = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return 0;
        uint64_t start = now_ns();
        for (size_t at = 0; at < PAGES * page_bytes; at += page_bytes)
            p[at] = 1;
        uint64_t spent_ps = (now_ns() - start) * 1000 / PAGES;
        munmap((void *)p, PAGES * page_bytes);
        if (!least || spent_ps < least)
            least = spent_ps;
    }
    return least;
}

/* One pass of a function; what its other side failed with. */
static const char *body_pass(struct slot *slot)
{
    size_t function = (size_t)(slot->cell->method - described);
    turn = slot;
    has_result = has_bytes = has_phase = false;
    running = getpid();
    slot_left = leave_turn;
    if (is_whole[function])
        pagewise_phase_begin(whole_phase());
    marked[function]->body();
    if (is_whole[function])
        pagewise_phase_end();
    if (getpid() != running)
        _exit(0);
    running = 0;
    release_threads();
    const char *failed = other_sides_end();
    slot_left = NULL;
    return failed;
}

/* What is counted is not timed, a built-in method that is compared has no such passes, and a fresh process is new. */
static bool settles(void)
{
    const char *counted[MAX_EXTRA];
    return !joined_experiment() && !is_fresh() && !request.trace_marks && counts_columns(counted) == 0;
}

static void run_body(struct slot *slot, void *unused)
{
    (void)unused;
    const struct method *method = slot->cell->method;
    struct surroundings before;
    turn = slot;
    bool is_watched = slot->proofs && !in_child(); /* a process that ends with its turn may be changed */
    if (is_watched) {
        fact(slot, "new_page_ps", new_page_ps(slot->page_bytes));
        fact(slot, "page_bytes", slot->page_bytes);
        look_around(&before);
    }
    if (in_child()) {
        pool_open(slot);
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    const char *failed = settled_pass(slot, body_pass, settles());
    if (in_child())
        pool_facts(slot);
    check_transcript(method);
    const char *changed = is_watched ? put_back(&before) : NULL;
    if (left_a_process())
        changed = "it left behind a process that it forked";
    if (failed)
        changed = failed;
    if (!changed && !has_phase)
        changed = "it passed no phase: one above all functions is taken for its own, so give it another";
    if (!changed && !has_bytes && !joined_experiment() && joined('y', 0, NO_LINE, ""))
        changed = "it says no BYTES, as another function of the file does, so their figures have not the same unit";
    if (changed)
        fail_because(slot, method->name, changed);
    if (has_result)
        fact_digest_value(slot, result);
}

static void run_function(struct slot *slot)
{
    static bool watched;
    if (!watched)
        watched = atexit(ended) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    const char *unit = joined_experiment() ? pagewise_build.unit : "";
    if (strcmp(unit, "byte") == 0 && slot->bytes)
        slot->ops = slot->bytes;
    if (strcmp(unit, "page") == 0 && slot->bytes)
        slot->ops = slot->bytes / slot->page_bytes;
    if (takes_file(slot->cell->method))
        prepare_file(slot);
    make_inputs(slot);
    start_fixtures(slot);
    if (is_fresh()) {
        pool_close(slot); /* fork() copies no thread: the process of the turn has its own */
        run_in_child(slot, run_body, NULL);
    } else {
        run_body(slot, NULL);
    }
}

/* The user's calls. */
size_t pagewise_value(const char *name)
{
    uint64_t number;
    const char *value = key_word(turn, name);
    if (!*value)
        fail_because(turn, arena_text("VALUE(%s)", name), "there is no such parameter");
    if (!number_of(value, &number))
        fail_because(turn, arena_text("VALUE(%s)", name), arena_text("\"%s\" is no number: read it by TEXT or IS", value));
    return number;
}

const char *pagewise_text(const char *name)
{
    const struct pagewise_mark *found[MOST_MARKS];
    size_t count = marks('i', 0, NO_LINE, found, MOST_MARKS);
    for (size_t i = 0; i < count; i++)
        if (strcmp(found[i]->text, name) == 0)
            return input_path(name, key_size(turn, name));
    return key_word(turn, name);
}

/* A word that is none of the parameter's would never be the one of this turn. */
int pagewise_is(const char *name, const char *word)
{
    const char *at = turn->cell->method->keys;
    size_t length = strlen(name);
    while (*at && !(strncmp(at, name, length) == 0 && at[length] == ':'))
        at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
    if (!*at)
        fail_because(turn, arena_text("IS(%s)", name), "there is no such parameter");
    const char *kind = at + length + 1;
    const char *words = arena_text("|%.*s|", (int)strcspn(kind, " "), kind);
    if (strncmp(kind, "text", 4) != 0 && !strchr(words, '<') && !strstr(words, arena_text("|%s|", word)))
        fail_because(turn, arena_text("IS(%s, \"%s\")", name, word), "it is none of the parameter's words");
    return key_is(turn, name, word);
}

int pagewise_phase_begin(const char *name)
{
    if (!is_among(turn->cell->method->phases, name))
        fail_because(turn, arena_text("PHASE(\"%s\")", name),
                     "phases stand in the function itself, or above all functions where it has none of its own");
    has_phase = true;
    is_armed = turn->pool != NULL;
    return phase_begin(turn, name, is_armed);
}

/* Work of each thread, and its argument. */
static struct {
    void (*call)(void *, unsigned);
    void *argument;
} thread_work;

static void work_of_thread(const struct part *part)
{
    thread_work.call(thread_work.argument, (unsigned)((uintptr_t)part->start / part->page_bytes));
}

void pagewise_on_threads(void (*work)(void *, unsigned), void *argument)
{
    thread_work.call = work;
    thread_work.argument = argument;
    if (!turn->pool) {
        work(argument, 0);
        return;
    }
    if (!is_armed)
        pool_wake(turn);
    is_armed = false;
    /* Each thread has the part of one page, by which it knows its number. */
    on_every_thread(turn, work_of_thread, NULL, turn->threads * turn->page_bytes, 0);
}

int pagewise_phase_end(void)
{
    int open = phase_end(turn);
    release_threads();
    return open;
}

void pagewise_result(uint64_t value)
{
    result = value;
    has_result = true;
}

void pagewise_other_side(void (*work)(void *), void *argument)
{
    other_side_start(turn, work, argument);
}

void pagewise_ready(void)
{
    partner_ready();
}

/* A socket's path has room for 107 letters, and that of the folder is often longer: this one stands for it, in this process and
 * in those that it starts. */
const char *pagewise_scratch(void)
{
    static const char *path;
    if (path)
        return path;
    int folder = open(launch_directory(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    int kept = fcntl(folder, F_DUPFD, FIRST_KEPT);
    if (folder < 0 || kept < 0)
        fail(turn, "open of SCRATCH");
    close(folder);
    return path = arena_text("/proc/self/fd/%d", kept);
}

/* Bytes of an open file that are in the page cache. */
static size_t cached_bytes(int file, size_t bytes)
{
    enum { AT_ONCE = 1 << 14 };
    static unsigned char present[AT_ONCE];
    size_t page = turn->page_bytes, cached = 0, step = AT_ONCE * page;
    for (size_t at = 0; at < bytes; at += step) {
        size_t length = bytes - at < step ? bytes - at : step;
        void *part = mmap(NULL, length, PROT_READ, MAP_SHARED, file, (off_t)at);
        if (part == MAP_FAILED || mincore(part, length, present) != 0)
            fail(turn, "mincore of COLD");
        munmap(part, length);
        for (size_t i = 0; i < (length + page - 1) / page; i++)
            cached += (present[i] & 1) * page;
    }
    return cached < bytes ? cached : bytes;
}

void pagewise_cold(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0)
        fail(turn, arena_text("open of COLD(%s)", path));
    /* Pages that are not written back yet stay. */
    (void)fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    size_t bytes = (size_t)about.st_size, cached = cached_bytes(file, bytes);
    close(file);
    fact(turn, "cached_before_bytes", cached);
    if (64 * cached > bytes)
        skip(turn, arena_text("%s cannot be made cold: %zu of its %zu bytes stay in memory, as in tmpfs or where another process "
                              "maps it", path, cached, bytes));
}

uint64_t pagewise_digest(const void *start, size_t bytes)
{
    return digest_of(start, bytes);
}

void pagewise_fact(const char *name, uint64_t value)
{
    fact(turn, name, value);
}

void pagewise_operations(uint64_t count)
{
    turn->ops = count;
}

void pagewise_bytes(uint64_t count)
{
    turn->ops = turn->phase_bytes = count;
    has_bytes = true;
}

void pagewise_fail(const char *call)
{
    fail(turn, call);
}

void pagewise_skip(const char *reason)
{
    skip(turn, reason);
}

static const char *empty_pass(struct slot *slot)
{
    turn = slot;
    for (const char *p = slot->cell->method->phases; *p;) {
        size_t length = strcspn(p, " ");
        pagewise_phase_begin(arena_text("%.*s", (int)length, p));
        pagewise_phase_end();
        p += length + strspn(p + length, " ");
    }
    return NULL;
}

static void empty(struct slot *slot)
{
    (void)settled_pass(slot, empty_pass, settles());
}

/* The functions of this file, and the floor of its phases unless a built-in method is compared, which has its own. */
__attribute__((constructor)) static void describe_file(void)
{
    static struct method nothing;
    __attribute__((used, section("pagewise_methods"))) static const struct method *nothing_listed;
    for (const struct pagewise_mark *const *m = __start_pagewise_marks; m < __stop_pagewise_marks; m++)
        if ((*m)->body && (*m)->kind != 'x')
            describe(*m);
    if (joined_experiment())
        return;
    const char *phases = joined('p', 0, NO_LINE, " ");
    nothing = (struct method){
        .experiment = "bench",
        .name = "empty",
        .role = "null",
        .summary = "An empty body: the cost of the stopwatch alone.",
        .phases = phases ? phases : whole_phase(),
        .keys = keys_of_file(),
        .memory = "0",
        .run = empty,
        .source = __FILE__,
    };
    nothing_listed = &nothing;
}

void about_more(void)
{
    const struct pagewise_mark *found[MOST_MARKS];
    size_t count = parameters(found);
    for (size_t i = 0; i < count; i++)
        out("about\tparameter\t%s\t%s\t%s\n", found[i]->text, kind_of(found[i]).values, found[i]->values);
    if (is_fresh())
        out("about\tfresh\tyes\n");
    if (joined('y', 0, NO_LINE, ""))
        out("about\tunit\tbyte\n");
    const char *baseline = joined('B', 0, NO_LINE, ",");
    if (!baseline && marks('b', 0, NO_LINE, found, MOST_MARKS))
        baseline = found[0]->text;
    if (baseline)
        out("about\tbaseline\t%s\n", baseline);
    Dl_info from;
    if (pagewise_build.is_library && marks('b', 0, NO_LINE, found, 1) && dladdr(dlsym(RTLD_DEFAULT, found[0]->text), &from) &&
        strrchr(from.dli_fname, '/'))
        out("about\tlibrary\t%s\n", from.dli_fname);
    out("about\tresults\t%s\n", joined('r', 0, NO_LINE, " ") ? "yes" : "no");
}
