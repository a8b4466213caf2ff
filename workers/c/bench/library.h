/* Functions of a shared library, each timed as a whole: `void f(void *context)`. Where the library has them, these are called
 * too, and not timed: `void *f_setup(void)` makes the context, `uint64_t f_result(void *context)` gives the result, and
 * `void f_teardown(void *context)` ends it. */
#include <pagewise.h>

#define LIBRARY(name)                                                                                                  \
    extern void name(void *);                                                                                          \
    extern void *name##_setup(void) __attribute__((weak));                                                             \
    extern uint64_t name##_result(void *) __attribute__((weak));                                                       \
    extern void name##_teardown(void *) __attribute__((weak));                                                         \
    BENCH(name)                                                                                                        \
    {                                                                                                                  \
        void *pagewise_context = name##_setup ? name##_setup() : NULL;                                                 \
        PHASE("run") { name(pagewise_context); }                                                                       \
        if (name##_result)                                                                                             \
            pagewise_result(name##_result(pagewise_context));                                                          \
        if (name##_teardown)                                                                                           \
            name##_teardown(pagewise_context);                                                                         \
    }
