/* What the request says, as methods ask for it. */
#include "core.h"
#include <stdlib.h>

struct request request;

static const char *lookup(const struct cell *cell, const char *key)
{
    for (int i = 0; i < cell->parameter_count; i++)
        if (strcmp(cell->parameters[i].key, key) == 0)
            return cell->parameters[i].value;
    return NULL;
}

const char *key_word(const struct slot *s, const char *key)
{
    const char *value = lookup(s->cell, key);
    return value ? value : "";
}

size_t key_size(const struct slot *s, const char *key)
{
    const char *value = lookup(s->cell, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

bool key_is(const struct slot *s, const char *key, const char *word)
{
    return strcmp(key_word(s, key), word) == 0;
}

bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

const char *launch_name(void)
{
    return request.name ? request.name : "pagewise-by-hand";
}

const char *launch_socket(void)
{
    return arena_text("%sm", request.rendezvous);
}

const char *launch_directory(void)
{
    return request.directory ? request.directory : "/tmp";
}
