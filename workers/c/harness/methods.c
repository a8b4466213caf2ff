/* The list of methods: the linker gathers every METHOD() entry into one section. Entries for a user's functions are filled in
 * when the worker starts (bench/bench.c); those that are not needed are NULL. */
#include "core.h"
#include <stdlib.h>

extern const struct method *const __start_pagewise_methods[];
extern const struct method *const __stop_pagewise_methods[];

const struct method *method_find(const char *experiment, const char *name)
{
    for (const struct method *const *m = __start_pagewise_methods; m < __stop_pagewise_methods; m++)
        if (*m && strcmp((*m)->experiment, experiment) == 0 && strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

int phase_count(const struct method *method)
{
    int count = 1;
    for (const char *p = method->phases; *p; p++)
        count += *p == ' ';
    return count;
}

static void attribute(const char *key, const char *value)
{
    if (value)
        out("\t%s=%s", key, value);
}

static int by_name(const void *a, const void *b)
{
    const struct method *x = *(const struct method *const *)a, *y = *(const struct method *const *)b;
    int order = strcmp(x->experiment, y->experiment);
    return order ? order : strcmp(x->name, y->name);
}

/* By name: how a compiler orders the methods of one file depends on its level. */
void methods_list(void)
{
    size_t count = 0;
    const struct method **sorted = malloc((size_t)(__stop_pagewise_methods - __start_pagewise_methods) * sizeof *sorted);
    if (!sorted)
        abort();
    for (const struct method *const *m = __start_pagewise_methods; m < __stop_pagewise_methods; m++)
        if (*m)
            sorted[count++] = *m;
    qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 0; i < count; i++) {
        const struct method *m = sorted[i];
        out("method\t%s\t%s", m->experiment, m->name);
        attribute("role", m->role ? m->role : "method");
        attribute("group", m->group);
        attribute("summary", m->summary);
        attribute("source", m->source);
        attribute("phases", m->phases);
        attribute("keys", m->keys);
        attribute("laws", m->laws);
        attribute("calls", m->calls);
        attribute("memory", m->memory);
        attribute("isolation", m->isolation ? m->isolation : "shared");
        attribute("sides", m->run_b ? "2" : NULL);
        attribute("preload", m->preload);
        attribute("package", m->package);
        attribute("tunables", m->tunables);
        attribute("needs", m->needs);
        out("\n");
    }
    free(sorted);
}
