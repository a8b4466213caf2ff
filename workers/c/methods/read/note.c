/* What make-capture noted beside a file (FILE.digest) when it made it: what the consumers must come to. Other files have no
 * note; there only methods that agree prove each other. */
#include "read.h"
#include <stdio.h>

static const char *word_of(enum consume kind)
{
    switch (kind) {
    case CONSUME_SUM:
        return "sum";
    case CONSUME_PAYLOAD:
        return "payload";
    case CONSUME_RECORDS:
        return "headers";
    case CONSUME_TOUCH:
        return "touched";
    case CONSUME_NONE:
        break;
    }
    return NULL;
}

void note_read(struct input *in)
{
    char path[4096], word[16];
    const char *wanted = word_of(in->sink.kind);
    unsigned long long bytes = 0, value;
    if (!wanted || (size_t)snprintf(path, sizeof path, "%s.digest", in->path) >= sizeof path)
        return;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    bool ours = fscanf(file, "%llu bytes seed %*u %*u records digest %*x", &bytes) == 1 && bytes == in->bytes;
    while (ours && !in->content_known && fscanf(file, " %15s %llx", word, &value) == 2)
        if (strcmp(word, wanted) == 0) {
            in->content_known = true;
            in->content = value;
        }
    fclose(file);
}

/* Only generated files have a note: anybody else's file is never written to. */
bool note_exists(const struct input *in)
{
    char path[4096];
    return (size_t)snprintf(path, sizeof path, "%s.digest", in->path) < sizeof path && access(path, F_OK) == 0;
}
