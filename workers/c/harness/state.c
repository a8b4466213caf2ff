/* What a state of the machine asks of a worker: maps of its own, cold memory before each phase, and a renewal before each slot.
 * The laboratory says it in two variables: PAGEWISE_STATE_INSIDE=maps:60000, tables:BYTES or cold, and
 * PAGEWISE_STATE_SLOTS=FOLDER with the holder's two FIFOs. */
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

static int asked = -1, done = -1;
static const char *inside;
static bool cools;
static size_t cooled_phases, referenced_bytes;

/* One page each; neighbors differ in protection, so the kernel cannot merge them. */
static void many_maps(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, count * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t i = 0; at != MAP_FAILED && i < count; i += 2)
        if (mprotect(at + i * page, page, PROT_NONE) != 0)
            return;
}

/* Reads a byte of each block: a page of tables each, and the page of zeros behind all of them. */
static void large_tables(size_t bytes)
{
    size_t block = 2 << 20;
    char *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return;
    madvise(at, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += block)
        (void)*(volatile char *)(at + i);
}

static size_t lines_of(const char *path)
{
    char text[4096];
    size_t lines = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && (got = read(fd, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            lines += text[i] == '\n';
    if (fd >= 0)
        close(fd);
    return lines;
}

/* Bytes that a file of the kernel has behind a name, in KiB there. */
static size_t kib_field(const char *path, const char *name)
{
    char text[4096] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
        text[0] = 0;
    if (fd >= 0)
        close(fd);
    const char *line = strstr(text, name);
    return line ? (size_t)strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

static size_t table_bytes(void)
{
    return kib_field("/proc/self/status", "VmPTE:");
}

/* All memory of the process becomes what the kernel would take back first: its accessed bits are cleared. */
static void cool(void)
{
    static char text[1 << 18];
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && length < sizeof text - 1; length += got > 0 ? (size_t)got : 0)
        got = read(fd, text + length, sizeof text - 1 - length);
    if (fd >= 0)
        close(fd);
    text[length] = 0;
    for (char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char *end;
        uintptr_t from = (uintptr_t)strtoull(line, &end, 16), to = (uintptr_t)strtoull(end + 1, NULL, 16);
        (void)madvise((void *)from, to - from, MADV_COLD); /* Not to what is locked or huge by its file system. */
    }
}

void state_cool(void)
{
    if (!cools)
        return;
    int error = errno;
    cool();
    size_t referenced = kib_field("/proc/self/smaps_rollup", "Referenced:");
    cooled_phases++;
    if (referenced > referenced_bytes)
        referenced_bytes = referenced;
    errno = error;
}

void state_tell(const char *moment)
{
    if (!inside)
        return;
    out("about\tstate_maps_%s\t%zu\n", moment, lines_of("/proc/self/maps"));
    out("about\tstate_table_bytes_%s\t%zu\n", moment, table_bytes());
    out("about\tstate_cooled_phases_%s\t%zu\n", moment, cooled_phases);
    out("about\tstate_referenced_bytes_%s\t%zu\n", moment, referenced_bytes);
}

void state_enter(void)
{
    char path[4096];
    const char *folder = getenv("PAGEWISE_STATE_SLOTS");
    if (folder) {
        snprintf(path, sizeof path, "%s/state-asked", folder);
        asked = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        snprintf(path, sizeof path, "%s/state-done", folder);
        done = open(path, O_RDWR | O_CLOEXEC);
    }
    if ((inside = getenv("PAGEWISE_STATE_INSIDE")) != NULL) {
        if (strncmp(inside, "maps:", 5) == 0)
            many_maps(strtoull(inside + 5, NULL, 10));
        else if (strncmp(inside, "tables:", 7) == 0)
            large_tables(strtoull(inside + 7, NULL, 10));
        cools = strcmp(inside, "cold") == 0;
    }
    state_tell("before");
}

void state_renew(void)
{
    char answer;
    if (asked >= 0 && done >= 0 && write(asked, "?", 1) == 1)
        while (read(done, &answer, 1) < 0 && errno == EINTR)
            ;
}
