/* Reads a request: key=value lines on standard input. Anything wrong ends the worker with one sentence and status 2. */
#include "core.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void request_error(int line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(2, "request line %d: %s\n", line, text);
    _exit(2);
}

static char *read_request(size_t *length)
{
    size_t capacity = 1 << 16, used = 0;
    char *text = arena(capacity + 1);
    for (;;) {
        if (used == capacity) {
            char *larger = arena(2 * capacity + 1);
            memcpy(larger, text, used);
            text = larger;
            capacity *= 2;
        }
        ssize_t got = read(0, text + used, capacity - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            request_error(1, "standard input cannot be read: %s", strerror(errno));
        if (got == 0)
            break;
        used += (size_t)got;
    }
    text[used] = 0;
    if (memchr(text, 0, used))
        request_error(1, "the request contains a zero byte");
    *length = used;
    return text;
}

static uint64_t number(int line, const char *key, const char *value)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)value[0]))
        request_error(line, "%s=%s is not a whole number", key, value);
    uint64_t result = strtoull(value, &end, 10);
    if (*end || errno)
        request_error(line, "%s=%s is not a whole number below 2^64", key, value);
    return result;
}

static bool yes(int line, const char *key, const char *value)
{
    if (strcmp(value, "yes") == 0)
        return true;
    if (strcmp(value, "no") != 0)
        request_error(line, "%s=%s is neither yes nor no", key, value);
    return false;
}

/* Finds `key` among "bytes:size release:dontneed|free"; returns what stands after its colon, and how long that is. */
static const char *declared(const char *keys, const char *key, size_t *length)
{
    size_t n = strlen(key);
    for (const char *p = keys; p && *p;) {
        size_t word = strcspn(p, " ");
        if (word > n && strncmp(p, key, n) == 0 && p[n] == ':') {
            *length = word - n - 1;
            return p + n + 1;
        }
        p += word + strspn(p + word, " ");
    }
    return NULL;
}

/* The `<size>` or `<time>` that may end a word stands for a number with a unit, which the laboratory has checked. */
static bool one_of(const char *words, size_t length, const char *value)
{
    size_t n = strlen(value);
    for (const char *p = words; p < words + length;) {
        size_t word = strcspn(p, "| "), lead = strcspn(p, "<| ");
        bool is_open = lead < word && n > lead && value[lead] >= '0' && value[lead] <= '9';
        if ((is_open || word == n) && strncmp(p, value, is_open ? lead : n) == 0)
            return true;
        p += word + 1;
    }
    return false;
}

static void check_parameter(int line, const struct method *method, const char *key, const char *value)
{
    size_t length;
    const char *kind = declared(method->keys, key, &length);
    if (!kind)
        request_error(line, "unknown key \"%s\" for method %s/%s (it takes %s)", key, method->experiment, method->name,
                      method->keys);
    bool is_number = length == 6 && !strncmp(kind, "number", 6);
    if (is_number || (length == 4 && !strncmp(kind, "size", 4)) || (length == 5 && !strncmp(kind, "count", 5))) {
        if (number(line, key, value) == 0 && !is_number)
            request_error(line, "%s=0 leaves nothing to measure", key);
    } else if (length == 4 && !strncmp(kind, "text", 4)) {
        if (!*value)
            request_error(line, "%s is empty", key);
    } else if (!one_of(kind, length, value)) {
        request_error(line, "%s=%s is not one of %.*s", key, value, (int)length, kind);
    }
}

static void cell_key(int line, struct cell *cell, const char *key, const char *value)
{
    if (strcmp(key, "method") == 0) {
        if (cell->method)
            request_error(line, "cell %d has two methods", cell->number);
        if (!(cell->method = method_find(request.experiment, value)))
            request_error(line, "unknown method \"%s\" of experiment \"%s\"", value, request.experiment);
        return;
    }
    if (!cell->method)
        request_error(line, "cell %d names \"%s\" before its method", cell->number, key);
    check_parameter(line, cell->method, key, value);
    for (int i = 0; i < cell->parameter_count; i++)
        if (strcmp(cell->parameters[i].key, key) == 0)
            request_error(line, "key \"%s\" stands twice in cell %d", key, cell->number);
    if (cell->parameter_count == MAX_PARAMETERS)
        request_error(line, "more than %d parameters", MAX_PARAMETERS);
    cell->parameters[cell->parameter_count++] = (struct parameter){key, value};
}

static void proof_rounds(int line, char *value)
{
    size_t capacity = 1;
    for (char *p = value; *p; p++)
        capacity += *p == ',';
    request.proofs = arena(capacity * sizeof *request.proofs);
    for (char *p = strtok(value, ","); p; p = strtok(NULL, ","))
        request.proofs[request.proof_count++] = (int)number(line, "proofs", p);
}

static void launch_key(int line, const char *key, char *value)
{
    if (strcmp(key, "experiment") == 0)
        request.experiment = value;
    else if (strcmp(key, "launch") == 0)
        request.launch = number(line, key, value);
    else if (strcmp(key, "seed") == 0)
        request.seed = number(line, key, value);
    else if (strcmp(key, "role") == 0) {
        if (strcmp(value, "a") != 0 && strcmp(value, "b") != 0)
            request_error(line, "role=%s is neither a nor b", value);
        request.role = value[0];
    } else if (strcmp(key, "rendezvous") == 0)
        request.rendezvous = value;
    else if (strcmp(key, "directory") == 0)
        request.directory = value;
    else if (strcmp(key, "name") == 0)
        request.name = value;
    else if (strcmp(key, "trace_marks") == 0)
        request.trace_marks = yes(line, key, value);
    else if (strcmp(key, "proofs") == 0)
        proof_rounds(line, value);
    else if (strcmp(key, "hardware_counters") == 0)
        request.hardware_counters = yes(line, key, value);
    else
        request_error(line, "unknown key \"%s\"", key);
}

static void add_round(int line, char *value, int warmup)
{
    struct round *round = &request.rounds[request.round_count++];
    char *space = strchr(value, ' ');
    if (!space)
        request_error(line, "a round is written round=NUMBER CELL,CELL,…");
    *space = 0;
    int index = (int)number(line, warmup ? "warmup" : "round", value);
    round->number = warmup ? -index : index;
    if (warmup && index == 0)
        request_error(line, "warm-up rounds count from 1");
    size_t capacity = 1;
    for (char *p = space + 1; *p; p++)
        capacity += *p == ',';
    round->cells = arena(capacity * sizeof *round->cells);
    for (char *p = strtok(space + 1, ","); p; p = strtok(NULL, ",")) {
        uint64_t cell = number(line, "cell", p);
        if (cell >= (uint64_t)request.cell_count)
            request_error(line, "there is no cell %s", p);
        round->cells[round->cell_count++] = (int)cell;
    }
    if (round->cell_count == 0)
        request_error(line, "a round without cells");
}

static void take_line(int line, char *text)
{
    char *value = strchr(text, '=');
    if (!value || value == text)
        request_error(line, "\"%s\" is not key=value", text);
    *value++ = 0;
    if (strcmp(text, "protocol") == 0) {
        if (strcmp(value, "1") != 0)
            request_error(line, "protocol=%s is not spoken here; this worker speaks 1", value);
    } else if (strcmp(text, "cell") == 0) {
        if (!request.experiment)
            request_error(line, "cell before experiment");
        if (number(line, "cell", value) != (uint64_t)request.cell_count)
            request_error(line, "cell=%s, but cells are numbered in order and %d is next", value, request.cell_count);
        request.cells[request.cell_count] = (struct cell){.number = request.cell_count, .line = line};
        request.cell_count++;
    } else if (strcmp(text, "round") == 0 || strcmp(text, "warmup") == 0)
        add_round(line, value, text[0] == 'w');
    else if (request.round_count)
        request_error(line, "key \"%s\" after the rounds", text);
    else if (request.cell_count)
        cell_key(line, &request.cells[request.cell_count - 1], text, value);
    else
        launch_key(line, text, value);
}

static void require_declared_keys(const struct cell *cell)
{
    for (const char *p = cell->method->keys; *p;) {
        size_t word = strcspn(p, " "), name = strcspn(p, ":");
        bool found = false;
        for (int i = 0; i < cell->parameter_count; i++)
            found |= strlen(cell->parameters[i].key) == name && !strncmp(cell->parameters[i].key, p, name);
        if (!found)
            request_error(cell->line, "cell %d lacks the key \"%.*s\" of method %s/%s", cell->number, (int)name, p,
                          cell->method->experiment, cell->method->name);
        p += word + strspn(p + word, " ");
    }
}

void request_read(void)
{
    size_t length;
    char *text = read_request(&length);
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    request.cells = arena(lines * sizeof *request.cells);
    request.rounds = arena(lines * sizeof *request.rounds);
    memset(request.rounds, 0, lines * sizeof *request.rounds);
    int line = 0;
    bool first = true;
    for (char *p = text, *next; p && *p; p = next) {
        line++;
        next = strchr(p, '\n');
        if (next)
            *next++ = 0;
        if (!*p || *p == '#')
            continue;
        if (first && strncmp(p, "protocol=", 9) != 0)
            request_error(line, "a request begins with protocol=1");
        first = false;
        take_line(line, p);
    }
    if (first)
        request_error(1, "the request is empty");
    if (!request.cell_count || !request.round_count)
        request_error(line, "a request needs at least one cell and one round");
    for (int i = 0; i < request.cell_count; i++) {
        if (!request.cells[i].method)
            request_error(request.cells[i].line, "cell %d has no method", i);
        require_declared_keys(&request.cells[i]);
    }
}
