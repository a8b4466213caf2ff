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

/* SHA-256 as in FIPS 180-4. */
struct sha256 {
    uint32_t state[8];
    unsigned char block[64];
    uint64_t bytes;
};

static uint32_t turned(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void sha256_block(struct sha256 *h)
{
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
        0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
        0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
        0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
        0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
        0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    };
    uint32_t w[64], *s = h->state;
    for (int i = 0; i < 16; i++) {
        const unsigned char *b = h->block + 4 * i;
        w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[i - 7] + (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
    }
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], last = s[7];
    for (int i = 0; i < 64; i++) {
        uint32_t one = last + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
        uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        last = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += last;
}

static void sha256_add(struct sha256 *h, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        h->block[h->bytes++ % 64] = (unsigned char)text[i];
        if (h->bytes % 64 == 0)
            sha256_block(h);
    }
}

/* The digest in hex, 64 digits. */
static void sha256_end(struct sha256 *h, char *hex)
{
    uint64_t bits = h->bytes * 8;
    sha256_add(h, "\x80", 1);
    while (h->bytes % 64 != 56)
        sha256_add(h, "", 1);
    for (int i = 7; i >= 0; i--)
        sha256_add(h, &(char){(char)(bits >> 8 * i)}, 1);
    for (int i = 0; i < 64; i++)
        hex[i] = "0123456789abcdef"[h->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
}

/* Whether the text is byte for byte as it was written: its seal is its SHA-256 with zeros in place of the seal's digits. */
static int is_sealed(const char *text)
{
    static const char start[] = "\"seal\":\"";
    const char *seal = NULL;
    for (const char *next = text; (next = strstr(next, start)) != NULL;)
        seal = next += sizeof start - 1;
    if (seal == NULL || strlen(seal) < 64)
        return 0;
    struct sha256 h = {
        {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, {0}, 0};
    char digits[64];
    memset(digits, '0', sizeof digits);
    sha256_add(&h, text, (size_t)(seal - text));
    sha256_add(&h, digits, sizeof digits);
    sha256_add(&h, seal + 64, strlen(seal + 64));
    sha256_end(&h, digits);
    return memcmp(digits, seal, sizeof digits) == 0;
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
    int sealed = is_sealed(text); /* reading changes the text */
    struct json j = {text, 0};
    members(&j, '{', whole, a);
    space(&j);
    if (j.at == NULL || *j.at != '\0')
        return none(a, why, why_bytes, "it is no file of advice: ", path ? path : found);
    if (a->schema != 3)
        return none(a, why, why_bytes, "it is advice of another version: ", path ? path : found);
    if (!sealed)
        return none(a, why, why_bytes, "it is not as it was written: ", path ? path : found);
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

/* What holds whatever the condition: nothing, where two of them differ or one of them is open. */
static const char *agreed(const struct question *q, uint64_t bytes)
{
    const char *usual = way(&q->usual, bytes);
    for (size_t n = 0; usual && n < q->conditions; n++) {
        const char *other = way(&q->condition[n], bytes);
        if (other == NULL || strcmp(other, usual) != 0)
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
