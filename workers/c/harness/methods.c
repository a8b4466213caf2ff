/* The list of methods: the linker gathers every METHOD() entry into one section. */
#include "core.h"

extern const struct method *const __start_pagewise_methods[];
extern const struct method *const __stop_pagewise_methods[];

const struct method *method_find(const char *experiment, const char *name)
{
    for (const struct method *const *m = __start_pagewise_methods; m < __stop_pagewise_methods; m++)
        if (strcmp((*m)->experiment, experiment) == 0 && strcmp((*m)->name, name) == 0)
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

void methods_list(void)
{
    for (const struct method *const *entry = __start_pagewise_methods; entry < __stop_pagewise_methods; entry++) {
        const struct method *m = *entry;
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
}
