/* Facts of one build of a user's functions, which the laboratory writes down before it compiles them. */
#ifndef PAGEWISE_BUILD_H
#define PAGEWISE_BUILD_H
struct pagewise_build {
    const char *compiler, *flags;
    int is_library;
    int is_fresh; /* each turn has a process of its own */
    /* Built-in experiment that the functions are methods of, and the parameters, group, unit and phase of the method that they
     * are compared with; NULL where they are compared with each other. */
    const char *experiment, *keys, *group, *unit, *phase;
};
#ifdef __cplusplus
extern "C" {
#endif
extern const struct pagewise_build pagewise_build;
#ifdef __cplusplus
}
#endif
#endif
