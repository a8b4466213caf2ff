/* Reads a file of advice (crates/record/schema/advice.schema.json). It needs "machine" and, of each question, "segments" and
 * "conditions"; all else is passed over. Whatever is not as expected makes the whole file none: a program then keeps its
 * defaults. */
#define _GNU_SOURCE
#include "pagewise_advice.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

enum { MOST_BYTES = 4 << 20, MOST_QUESTIONS = 64, MOST_SEGMENTS = 64, MOST_CONDITIONS = 16, MOST_DEPTH = 32 };

struct segment {
    uint64_t from, to;
    const char *way;
};

/* The ways at all sizes: of a question, or of a condition by its name. */
struct ways {
    const char *name;
    size_t segments;
    struct segment segment[MOST_SEGMENTS];
};

struct question {
    struct ways usual;
    size_t conditions;
    struct ways condition[MOST_CONDITIONS];
};

struct pagewise_advice {
    char *text; /* all words lie in it */
    const char *cpu, *microcode, *kernel, *thp, *glibc;
    uint64_t page_bytes, schema;
    size_t questions;
    struct question question[MOST_QUESTIONS];
};

/* What is left of a text; `at` is NULL once something was not as expected. */
struct json {
    char *at;
    int depth;
};

static void space(struct json *j)
{
    while (j->at && *j->at && strchr(" \t\r\n", *j->at))
        j->at++;
}

static int take(struct json *j, char c)
{
    space(j);
    if (j->at == NULL || *j->at != c)
        return 0;
    j->at++;
    return 1;
}

static void must(struct json *j, char c)
{
    if (!take(j, c))
        j->at = NULL;
}

/* A string, ended and unescaped in place. Escapes by number are kept as `?`: no name of a way has one. */
static char *string(struct json *j)
{
    must(j, '"');
    if (j->at == NULL)
        return NULL;
    char *start = j->at, *to = j->at;
    for (; *j->at != '"'; j->at++) {
        if ((unsigned char)*j->at < ' ')
            return j->at = NULL;
        if (*j->at == '\\') {
            j->at++;
            size_t digits = *j->at == 'u' ? strspn(j->at + 1, "0123456789abcdefABCDEF") : 4;
            if (*j->at == '\0' || digits < 4)
                return j->at = NULL;
            *to++ = strchr("\"\\/", *j->at) ? *j->at : '?';
            j->at += *j->at == 'u' ? 4 : 0;
        } else {
            *to++ = *j->at;
        }
    }
    j->at++;
    *to = '\0';
    return start;
}

/* A whole number that is not negative. */
static uint64_t number(struct json *j)
{
    space(j);
    if (j->at == NULL || !isdigit((unsigned char)*j->at))
        return j->at = NULL, 0;
    char *end;
    uint64_t value = strtoull(j->at, &end, 10);
    j->at = strchr(".eE", *end) && *end ? NULL : end;
    return value;
}

/* Any value. */
static void pass(struct json *j)
{
    space(j);
    if (j->at == NULL || ++j->depth > MOST_DEPTH) {
        j->at = NULL;
        return;
    }
    if (*j->at == '"') {
        string(j);
    } else if (*j->at == '{' || *j->at == '[') {
        char open = *j->at++, end = open == '{' ? '}' : ']';
        for (int first = 1; j->at && !take(j, end); first = 0) {
            if (!first)
                must(j, ',');
            if (open == '{') {
                string(j);
                must(j, ':');
            }
            pass(j);
        }
    } else {
        size_t length = strspn(j->at, "+-.0123456789eEaflnrstu");
        j->at = length ? j->at + length : NULL;
    }
    j->depth--;
}

/* Every member of an object, or element of an array (with NULL as its name), is given to `each`. */
static void members(struct json *j, char open, void (*each)(struct json *, const char *, void *), void *to)
{
    must(j, open);
    for (int first = 1; j->at && !take(j, open == '{' ? '}' : ']'); first = 0) {
        if (!first)
            must(j, ',');
        const char *name = NULL;
        if (open == '{') {
            name = string(j);
            must(j, ':');
        }
        if (j->at)
            each(j, name, to);
    }
}

static void machine(struct json *j, const char *name, void *to)
{
    struct pagewise_advice *a = to;
    struct {
        const char *name, **to;
    } words[] = {
        {"cpu", &a->cpu}, {"microcode", &a->microcode}, {"kernel", &a->kernel}, {"thp", &a->thp}, {"glibc", &a->glibc},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i].name) == 0) {
            *words[i].to = string(j);
            return;
        }
    }
    if (strcmp(name, "page_bytes") == 0)
        a->page_bytes = number(j);
    else
        pass(j);
}

static void part(struct json *j, const char *name, void *to)
{
    struct segment *s = to;
    if (strcmp(name, "from") == 0)
        s->from = number(j);
    else if (strcmp(name, "to") == 0)
        s->to = number(j);
    else if (strcmp(name, "use") == 0)
        s->way = string(j);
    else
        pass(j);
}

static void segment(struct json *j, const char *name, void *to)
{
    struct ways *w = to;
    (void)name;
    if (w->segments == MOST_SEGMENTS) {
        j->at = NULL;
        return;
    }
    struct segment *s = &w->segment[w->segments++];
    members(j, '{', part, s);
    if (s->way == NULL || s->from > s->to)
        j->at = NULL;
}

static void condition(struct json *j, const char *name, void *to)
{
    struct question *q = to;
    if (q->conditions == MOST_CONDITIONS) {
        j->at = NULL;
        return;
    }
    struct ways *w = &q->condition[q->conditions++];
    w->name = name;
    members(j, '[', segment, w);
}

static void answer(struct json *j, const char *name, void *to)
{
    struct question *q = to;
    if (strcmp(name, "segments") == 0)
        members(j, '[', segment, &q->usual);
    else if (strcmp(name, "conditions") == 0)
        members(j, '{', condition, q);
    else
        pass(j);
}

static void question(struct json *j, const char *name, void *to)
{
    struct pagewise_advice *a = to;
    if (a->questions == MOST_QUESTIONS) {
        j->at = NULL;
        return;
    }
    struct question *q = &a->question[a->questions++];
    q->usual.name = name;
    members(j, '{', answer, q);
}

static void whole(struct json *j, const char *name, void *to)
{
    struct pagewise_advice *a = to;
    if (strcmp(name, "schema") == 0)
        a->schema = number(j);
    else if (strcmp(name, "machine") == 0)
        members(j, '{', machine, to);
    else if (strcmp(name, "questions") == 0)
        members(j, '{', question, to);
    else
        pass(j);
}

/* The start of a regular file, ended by a zero; NULL where it cannot be read or, with `all`, is longer than `most`. Opening
 * waits for nobody: a pipe by that name is passed over. */
static char *file(const char *path, size_t most, int all)
{
    int f = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat about;
    if (f < 0)
        return NULL;
    if (fstat(f, &about) != 0 || !S_ISREG(about.st_mode) || (all && (uint64_t)about.st_size >= most)) {
        close(f);
        return NULL;
    }
    char *text = NULL;
    size_t room = 0, length = 0;
    for (ssize_t got = 1; got > 0 && length < most; length += got) {
        if (length + 1 >= room) {
            char *larger = realloc(text, room = room ? room * 4 : 16384);
            if (larger == NULL)
                break;
            text = larger;
        }
        size_t wanted = room - length - 1;
        got = read(f, text + length, wanted < most - length ? wanted : most - length);
        if (got < 0)
            break;
    }
    close(f);
    if (text && length == most && all)
        return free(text), NULL;
    if (text)
        text[length] = '\0';
    return text;
}

/* The value of a line `NAME : VALUE` of /proc/cpuinfo, in `to`. */
static const char *field(const char *info, const char *name, char *to, size_t room)
{
    snprintf(to, room, "unknown");
    size_t length = strlen(name);
    for (const char *line = info; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        if (strncmp(line, name, length) == 0 && strchr("\t :", line[length])) {
            const char *value = strchr(line, ':');
            value = value ? value + 1 + strspn(value + 1, " \t") : "";
            size_t end = strcspn(value, "\n");
            while (end > 0 && isspace((unsigned char)value[end - 1]))
                end--;
            snprintf(to, room, "%.*s", (int)end, value);
            return to;
        }
    }
    return NULL;
}

/* In what this machine differs from the one that the advice is for; NULL where it is of that kind. */
static const char *differs(const struct pagewise_advice *a)
{
    char word[256] = "unknown";
    char *info = file("/proc/cpuinfo", 8192, 0);
    int cpu = field(info, "model name", word, sizeof word) || field(info, "CPU part", word, sizeof word);
    (void)cpu;
    int same = strcmp(word, a->cpu) == 0;
    field(info, "microcode", word, sizeof word);
    int microcode = strcmp(word, a->microcode) == 0;
    free(info);
    if (!same || !microcode)
        return same ? "microcode" : "processor";
    char *kernel = file("/proc/sys/kernel/osrelease", 256, 0);
    same = kernel && (kernel[strcspn(kernel, "\n")] = '\0', strcmp(kernel, a->kernel) == 0);
    free(kernel);
    if (!same)
        return "kernel";
    char *thp = file("/sys/kernel/mm/transparent_hugepage/enabled", 256, 0);
    char *start = thp ? strchr(thp, '[') : NULL, *end = start ? strchr(start, ']') : NULL;
    snprintf(word, sizeof word, "%.*s", end ? (int)(end - start - 1) : 7, end ? start + 1 : "unknown");
    free(thp);
    if (strcmp(word, a->thp) != 0)
        return "transparent huge pages";
#ifdef __GLIBC__
    if (strcmp(gnu_get_libc_version(), a->glibc) != 0)
        return "glibc";
#else
    if (strcmp("unknown", a->glibc) != 0)
        return "C library";
#endif
    return (uint64_t)sysconf(_SC_PAGESIZE) == a->page_bytes ? NULL : "page size";
}

void pagewise_advice_free(struct pagewise_advice *advice)
{
    if (advice)
        free(advice->text);
    free(advice);
}

static struct pagewise_advice *none(struct pagewise_advice *advice, char *why, size_t room, const char *what, const char *more)
{
    if (why && room)
        snprintf(why, room, "%s%s", what, more);
    pagewise_advice_free(advice);
    return NULL;
}

/* A variable, unless the program has more rights than its caller. */
static const char *environment(const char *name)
{
#if defined __GLIBC__ || defined __BIONIC__
    return secure_getenv(name);
#else
    return getauxval(AT_SECURE) ? NULL : getenv(name);
#endif
}

static char *first_file(char *path, size_t room)
{
    const char *named = environment("PAGEWISE_ADVICE"), *xdg = environment("XDG_CONFIG_HOME"), *home = environment("HOME");
    if (named && *named) {
        snprintf(path, room, "%s", named);
        return file(path, MOST_BYTES, 1);
    }
    if (xdg && *xdg == '/')
        snprintf(path, room, "%s/pagewise/advice.json", xdg);
    else
        snprintf(path, room, "%s/.config/pagewise/advice.json", home ? home : "");
    char *text = xdg || home ? file(path, MOST_BYTES, 1) : NULL;
    if (text)
        return text;
    snprintf(path, room, "/etc/pagewise/advice.json");
    return file(path, MOST_BYTES, 1);
}

struct pagewise_advice *pagewise_advice_load(const char *path, char *why, size_t why_bytes)
{
    char found[4096];
    char *text = path ? file(path, MOST_BYTES, 1) : first_file(found, sizeof found);
    if (text == NULL)
        return none(NULL, why, why_bytes, "there is no advice at ", path ? path : found);
    struct pagewise_advice *a = calloc(1, sizeof *a);
    if (a == NULL) {
        free(text);
        return none(NULL, why, why_bytes, "there is no memory for it", "");
    }
    a->text = text;
    struct json j = {text, 0};
    members(&j, '{', whole, a);
    space(&j);
    if (j.at == NULL || *j.at != '\0')
        return none(a, why, why_bytes, "it is no file of advice: ", path ? path : found);
    if (a->schema != 1 && a->schema != 2)
        return none(a, why, why_bytes, "it is advice of another version: ", path ? path : found);
    if (!a->cpu || !a->microcode || !a->kernel || !a->thp || !a->glibc)
        return none(a, why, why_bytes, "it does not say for which machine it is: ", path ? path : found);
    const char *other = differs(a);
    return other ? none(a, why, why_bytes, "it is of another machine; what differs is the ", other) : a;
}

static const char *way(const struct ways *w, uint64_t bytes)
{
    for (size_t n = 0; n < w->segments; n++)
        if (w->segment[n].from <= bytes && bytes <= w->segment[n].to)
            return w->segment[n].way;
    return NULL;
}

/* What holds whatever the condition: nothing, where two of them differ. */
static const char *agreed(const struct question *q, uint64_t bytes)
{
    const char *usual = way(&q->usual, bytes);
    for (size_t n = 0; usual && n < q->conditions; n++) {
        const char *other = way(&q->condition[n], bytes);
        if (other && strcmp(other, usual) != 0)
            usual = NULL;
    }
    return usual;
}

const char *pagewise_advice_ask(const struct pagewise_advice *advice, const char *question, uint64_t bytes,
                                const char *condition)
{
    const struct question *q = NULL;
    for (size_t i = 0; advice && i < advice->questions; i++)
        if (strcmp(advice->question[i].usual.name, question) == 0)
            q = &advice->question[i];
    if (q == NULL || condition == NULL)
        return q ? agreed(q, bytes) : NULL;
    for (size_t n = 0; n < q->conditions; n++)
        if (strcmp(q->condition[n].name, condition) == 0)
            return way(&q->condition[n], bytes);
    return NULL;
}

static struct pagewise_advice *of_this_machine;

static void load_once(void)
{
    of_this_machine = pagewise_advice_load(NULL, NULL, 0);
}

const char *pagewise_advice(const char *question, uint64_t bytes, const char *condition)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return pagewise_advice_ask(of_this_machine, question, bytes, condition);
}
