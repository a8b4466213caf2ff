/* See io.h. Never timed. */
#include "io.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t text_of(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = 0;
    return length > 0 ? (size_t)length : 0;
}

/* The number of a line that begins with a name. */
static uint64_t number_after(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
        if (strncmp(line, name, length) == 0)
            return strtoull(line + length, NULL, 10);
    return 0;
}

struct io io_so_far(void)
{
    char text[512];
    text_of("/proc/self/io", text, sizeof text);
    return (struct io){number_after(text, "rchar: "), number_after(text, "wchar: "), number_after(text, "read_bytes: "),
                       number_after(text, "write_bytes: ")};
}

static bool value_in(const char *folder, const char *file, uint64_t *number)
{
    char path[4200], text[64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!text_of(path, text, sizeof text))
        return false;
    *number = strtoull(text, NULL, 10); /* `max` is none: 0 */
    return true;
}

struct charges charges_so_far(struct slot *s)
{
    struct charges c = {0};
    static char text[1 << 14];
    char path[4200];
    if (key_is(s, "bound", "unbounded"))
        return c;
    const char *bound = key_word(s, "bound"), *folder = getenv("PAGEWISE_CGROUP");
    uint64_t wanted = strtoull(bound, NULL, 10);
    if (!wanted)
        skip(s, "memory.high slows down who goes beyond it and bounds nothing: give the bound as a size");
    if (!folder)
        skip(s, "the bound needs a memory cgroup, which pagewise run --allow-system-changes makes");
    bool first = value_in(folder, "memory.limit_in_bytes", &c.limit_bytes);
    if (first) {
        value_in(folder, "memory.max_usage_in_bytes", &c.peak_bytes);
        value_in(folder, "memory.failcnt", &c.hits);
    } else {
        value_in(folder, "memory.max", &c.limit_bytes);
        if (!value_in(folder, "memory.peak", &c.peak_bytes)) /* Linux 5.19 */
            value_in(folder, "memory.current", &c.peak_bytes);
        snprintf(path, sizeof path, "%s/memory.events", folder);
        text_of(path, text, sizeof text);
        c.hits = number_after(text, "max ");
    }
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    text_of(path, text, sizeof text);
    c.refaults = number_after(text, "workingset_refault_file ");
    if (!c.refaults) /* before Linux 5.9 */
        c.refaults = number_after(text, "workingset_refault ");
    if (c.limit_bytes != wanted)
        fail_because(s, "memory cgroup", arena_text("%s bounds %llu bytes, not %llu", folder,
                                                    (unsigned long long)c.limit_bytes, (unsigned long long)wanted));
    return c;
}
