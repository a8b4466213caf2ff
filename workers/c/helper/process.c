/* Files of the kernel on one process (proc(5)). */
#include "process.h"
#include "core.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char *process_text(pid_t pid, const char *name, size_t *bytes)
{
    char path[64];
    if (pid)
        snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    else
        snprintf(path, sizeof path, "/proc/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t have = 0, room = 1 << 16;
    char *text = malloc(room);
    ssize_t got = 0;
    while (text && (got = read(fd, text + have, room - have - 1)) > 0) {
        have += (size_t)got;
        if (room - have < 4096) {
            char *more = realloc(text, room *= 2);
            if (!more)
                break;
            text = more;
        }
    }
    close(fd);
    if (text)
        text[have] = 0;
    if (bytes)
        *bytes = have;
    return text;
}

uint64_t process_field(const char *text, const char *name)
{
    const char *at = text ? strstr(text, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, 10) : UINT64_MAX;
}

void process_io(pid_t pid, const char *name, struct process_io *io)
{
    static const char *const names[PROCESS_NUMBERS] = {"rchar:",         "wchar:",       "syscr:", "syscw:",
                                                       "\nwrite_bytes:", "\nread_bytes:"};
    char *text = process_text(pid, name, NULL);
    for (int i = 0; i < PROCESS_NUMBERS; i++) {
        uint64_t number = process_field(text, names[i]);
        io->number[i] = number == UINT64_MAX ? 0 : number;
    }
    free(text);
}

struct process_io process_io_since(const struct process_io *now, const struct process_io *then)
{
    struct process_io since;
    for (int i = 0; i < PROCESS_NUMBERS; i++)
        since.number[i] = now->number[i] > then->number[i] ? now->number[i] - then->number[i] : 0;
    return since;
}

void process_io_print(const struct process_io *io)
{
    static const char *const names[PROCESS_NUMBERS] = {"read_bytes",  "write_bytes",   "read_calls",
                                                       "write_calls", "dirtied_pages", "fetched_bytes"};
    for (int i = 0; i < PROCESS_NUMBERS; i++)
        printf(",\"%s\":%llu", names[i], (unsigned long long)io->number[i] / (i == PROCESS_DIRTIED ? 4096 : 1));
}

bool process_has_ended(int process)
{
    struct pollfd watched = {process, POLLIN, 0};
    return process < 0 || poll(&watched, 1, 0) > 0;
}

bool process_has_thread(pid_t pid, pid_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", pid, thread);
    return access(path, F_OK) == 0;
}

uint64_t merged_pages(pid_t pid)
{
    char *text = process_text(pid, "ksm_merging_pages", NULL);
    uint64_t pages = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return pages;
}
