/* Your own loops under Pagewise's stopwatch: pagewise bench FILE.c (or .cpp). A start: pagewise bench --new FILE.c
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
 * itself, PHASE also in what it calls where that stands above all functions; the other macros work anywhere. All further names
 * of this file begin with pagewise_, so yours may be anything, also main. */
#ifndef PAGEWISE_H
#define PAGEWISE_H
#pragma GCC system_header
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Values of a parameter, separated by commas: numbers (7, 1.5M, 100us: times are in nanoseconds), sizes (64KiB), ranges of
 * both (1KiB..1GiB is each eightfold; 1..64*2 doubles), words (small,large) or paths of files that are there (data/a.bin).
 * VALUE(name) is the number of this turn, TEXT(name) its word or path, IS(name, "small") asks for a word: look them up before
 * the phase. With --with EXPERIMENT/METHOD the parameters are that method's. */
#define PARAM(name, values) PAGEWISE_MARK(pagewise_parameter_##name, 'k', #name, values, 0)
#define VALUE(name) pagewise_value(#name)
#define TEXT(name) pagewise_text(#name)
#define IS(name, word) pagewise_is(#name, word)

/* A parameter whose values are sizes of a file that is made before the functions run, with content of this seed: TEXT(name) is
 * its path, VALUE(name) its bytes. */
#define INPUT(name, sizes, seed) PAGEWISE_MARK(pagewise_parameter_##name, 'i', #name, sizes "\0" #seed, 0)

/* Takes a file out of the page cache, before a phase that reads it. A file that stays in memory skips the function. */
#define COLD(path) pagewise_cold(path)

/* Calls work(argument) in a process of its own, the other side of this turn: it must end with the turn. What both share is
 * made before. With PARAM(pin, "none,same,l3,node,far"), the two sides are on CPUs as those of the experiment `message` are. */
#define OTHER_SIDE(work, argument) pagewise_other_side(work, argument)

/* FIXTURE(server) { … }, outside of the functions: runs once before the functions of a process, in a process of its own, such
 * as a server, and ends with it, however that ends. The functions begin when its body has returned or said READY(). SCRATCH()
 * is the path of a folder for files of both, which is emptied afterwards. */
#define FIXTURE(name)                                                                                                  \
    static void pagewise_body_##name(void);                                                                            \
    PAGEWISE_MARK(pagewise_fixture_##name, 'x', #name, "", pagewise_body_##name);                                      \
    static void pagewise_body_##name(void)
#define READY() pagewise_ready()
#define SCRATCH() pagewise_scratch()

/* The parameter `threads`. ON_THREADS(work, argument) in a phase calls work(argument, thread) on each of that many threads;
 * they wait at the phase's start. */
#define THREADS(values) PAGEWISE_MARK(pagewise_parameter_threads, 't', "threads", values, 0)
#define ON_THREADS(work, argument) pagewise_on_threads(work, argument)

/* A function. BASELINE is the one that the others are compared with; without one it is the first. */
#define BENCH(name)                                                                                                    \
    static void pagewise_body_##name(void);                                                                            \
    PAGEWISE_MARK(pagewise_function_##name, 'b', #name, "", pagewise_body_##name);                                     \
    static void pagewise_body_##name(void)
#define BASELINE(name)                                                                                                 \
    static void pagewise_body_##name(void);                                                                            \
    PAGEWISE_MARK(pagewise_function_##name, 'B', #name, "", pagewise_body_##name);                                     \
    static void pagewise_body_##name(void)

/* Times what is between its braces. */
#define PHASE(name)                                                                                                    \
    for (int pagewise_open = __extension__({ PAGEWISE_NOTE('p', name); pagewise_phase_begin(name); }); pagewise_open;  \
         pagewise_open = pagewise_phase_end())

/* Number that the work came to. It keeps the compiler from leaving the work out, and every function must come to the same. */
#define RESULT(value)                                                                                                  \
    do {                                                                                                               \
        PAGEWISE_NOTE('r', "");                                                                                        \
        pagewise_result((uint64_t)(value));                                                                            \
    } while (0)

/* The same by the content of memory: proves what a method of fault, share or copy made. */
#define DIGEST(start, bytes) RESULT(pagewise_digest(start, bytes))

/* Relation that every turn must keep: LAW("fill.minor_faults == bytes / page_bytes"). FACT("name", number) records a number of
 * this turn that a law can name. See workers/PROTOCOL.md. */
#define LAW(relation) PAGEWISE_NOTE('l', relation)
#define FACT(name, value) pagewise_fact(name, (uint64_t)(value))

/* Operations in each phase that follows, such as records read: figures are those of one. BYTES is their number of bytes
 * instead, for figures in GB/s; every function of the file has it then. */
#define OPERATIONS(count) pagewise_operations(count)
#define BYTES(count)                                                                                                   \
    do {                                                                                                               \
        PAGEWISE_NOTE('y', "");                                                                                        \
        pagewise_bytes(count);                                                                                         \
    } while (0)

/* Outside of the functions: each turn runs in a process of its own, which was never used before, as in a program that does
 * this once. Its start is not timed. The option --fresh does the same. */
#define FRESH() PAGEWISE_MARK(pagewise_is_fresh, 'f', "", "", 0)

/* Ends this turn: a call failed (errno says why), or the machine cannot do this. */
#define FAIL(call) pagewise_fail(call)
#define SKIP(reason) pagewise_skip(reason)

/* The rest is how it works. A mark is something that the file says of itself, with its line. */
struct pagewise_mark {
    char kind;
    int line;
    const char *text, *values, *file;
    void (*body)(void);
};
#define PAGEWISE_MARK(variable, kind, text, values, body)                                                              \
    static const struct pagewise_mark variable = {kind, __LINE__, text, values, __FILE__, body};                       \
    __attribute__((used, section("pagewise_marks"))) static const struct pagewise_mark *const variable##_entry = &variable
#define PAGEWISE_NOTE(kind, text)                                                                                      \
    __extension__({ PAGEWISE_MARK(pagewise_note, kind, text, "", 0); (void)pagewise_note_entry; })
size_t pagewise_value(const char *);
const char *pagewise_text(const char *);
int pagewise_is(const char *, const char *);
void pagewise_cold(const char *);
void pagewise_other_side(void (*)(void *), void *);
void pagewise_ready(void);
const char *pagewise_scratch(void);
void pagewise_on_threads(void (*)(void *, unsigned), void *);
int pagewise_phase_begin(const char *);
int pagewise_phase_end(void);
void pagewise_result(uint64_t);
uint64_t pagewise_digest(const void *, size_t);
void pagewise_fact(const char *, uint64_t);
void pagewise_operations(uint64_t);
void pagewise_bytes(uint64_t);
__attribute__((noreturn)) void pagewise_fail(const char *);
__attribute__((noreturn)) void pagewise_skip(const char *);
#ifdef __cplusplus
}
#endif
#endif
