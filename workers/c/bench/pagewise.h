/* Your own loops under Pagewise's stopwatch: pagewise bench FILE.c. A start: pagewise bench --new FILE.c
 *
 *     #include <pagewise.h>
 *     PARAM(bytes, "1MiB,64MiB");               a parameter and its values; sizes end in B
 *     BASELINE(by_loop) {                       a function that is measured; the others are compared with the baseline
 *         char *p = malloc(VALUE(bytes));       setup: not timed
 *         PHASE("fill") { … }                   exactly what is between these braces is timed
 *         RESULT(p[0]);                         what the work came to; every function must come to the same
 *         free(p);                              teardown: not timed
 *     }
 *     BENCH(by_memset) { … }
 *
 * A function without PHASE is timed as a whole. A phase's name is one word. Each function runs many times, in turn with the
 * others, in several fresh processes; it must leave the process as it found it. PHASE, LAW and RESULT stand in the function
 * itself. Everything of worker.h is there too, with `slot` as first argument: fact(slot, "name", value), pattern_fill(). */
#ifndef PAGEWISE_H
#define PAGEWISE_H
#include "worker.h"

/* Values of a parameter, separated by commas: numbers, or sizes such as 64KiB. VALUE(name) looks the
 * value of this turn up: read it before the phase. */
#define PARAM(name, values) BENCH_MARK(bench_param_##name, 'k', #name, values)
#define VALUE(name) key_size(slot, #name)
/* With --with EXPERIMENT/METHOD the parameters are that method's: words and paths are read by TEXT(file), IS(cache, "hot"). */
#define TEXT(name) key_word(slot, #name)
#define IS(name, word) key_is(slot, #name, word)

/* A function. BASELINE is the one that the others are compared with; without one it is the first. */
#define BENCH(name) BENCH_FUNCTION(name, 'b')
#define BASELINE(name) BENCH_FUNCTION(name, 'B')

/* Times what is between its braces. */
#undef PHASE
#define PHASE(name)                                                                                                    \
    for (int open_ = ({ BENCH_NOTE('p', name); phase_begin(slot, (name), 0); }); open_; open_ = phase_end(slot))

/* Number that the work came to. It keeps the compiler from leaving the work out, and every function must come to the same. */
#define RESULT(value)                                                                                                  \
    do {                                                                                                               \
        BENCH_NOTE('r', "");                                                                                           \
        bench_result((uint64_t)(value));                                                                         \
    } while (0)

/* The same by the content of memory: proves what a method of fault, share or copy made. */
#define DIGEST(start, bytes) RESULT(digest_of(start, bytes))

/* Relation that every turn must keep: LAW("fill.minor_faults == bytes / page_bytes"). See workers/PROTOCOL.md. */
#define LAW(relation) BENCH_NOTE('l', relation)

/* Operations in each phase that follows, such as records read: figures are also given for one. */
#define OPERATIONS(count) (slot->ops = (count))

/* Ends this turn: a call failed (errno says why), or the machine cannot do this. */
#define FAIL(call) fail(slot, call)
#define SKIP(reason) skip(slot, reason)

/* The rest is how it works. A mark is something that the file says of itself, with its line. */
struct bench_mark {
    char kind;
    int line;
    const char *text, *values;
};
#define BENCH_MARK(variable, kind, text, values)                                                                       \
    static const struct bench_mark variable##_mark = {kind, __LINE__, text, values};                                   \
    __attribute__((used, section("pagewise_marks"))) static const struct bench_mark *const variable##_entry = &variable##_mark
#define BENCH_NOTE(kind, text) ({ BENCH_MARK(note, kind, text, ""); (void)note_entry; })
#define BENCH_FUNCTION(function, kind)                                                                                 \
    static void function##_body(struct slot *slot);                                                                    \
    static struct method function##_method;                                                                            \
    static void function##_run(struct slot *slot) { bench_run(slot, &function##_method, function##_body); }            \
    BENCH_MARK(bench_function_##function, kind, #function, "");                                                        \
    __attribute__((constructor)) static void function##_describe(void)                                                 \
    {                                                                                                                  \
        function##_method = (struct method){.name = #function, .run = function##_run, .source = __FILE__};             \
        bench_describe(&function##_method, __LINE__);                                                                  \
    }                                                                                                                  \
    __attribute__((used, section("pagewise_methods")))                                                                 \
    static const struct method *const function##_listed = &function##_method;                                          \
    static void function##_body(__attribute__((unused)) struct slot *slot)
void bench_describe(struct method *method, int line);
void bench_run(struct slot *slot, const struct method *method, void (*body)(struct slot *));
void bench_result(uint64_t value);
#endif
