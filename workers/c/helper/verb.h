/* The helper's verbs. One VERB() enters one in the list, so nothing else names it. */
#ifndef PAGEWISE_VERB_H
#define PAGEWISE_VERB_H

/* `usage` names the words that follow the verb: `[WORD]` may be left out, `WORD…` may come many times or never. A verb is only
 * begun with as many words as its usage has; argv[0] is the first of them. What `main` returns is the exit status. */
struct verb {
    const char *name, *usage;
    int (*main)(int argc, char **argv);
};

#define VERB(name, usage, function)                                                                                     \
    static const struct verb function##_verb = {name, usage, function};                                                 \
    __attribute__((used, section("pagewise_verbs"))) static const struct verb *const function##_entry = &function##_verb

/* start.c */
void set_affinity(int thread, const char *list); /* a list like 0,2-3; 0 is the caller */
void set_variable(char *text);                   /* VAR=VALUE */
#endif
