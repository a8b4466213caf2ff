/* What a state of the machine asks of a worker: maps of its own, and a renewal before each slot. The laboratory says it in two
 * variables: PAGEWISE_STATE_INSIDE=maps:60000 or tables:BYTES, and PAGEWISE_STATE_SLOTS=FOLDER with the holder's two FIFOs. */
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static int asked = -1, done = -1;
static const char *inside;

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

static size_t table_bytes(void)
{
    char text[4096] = "";
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
        text[0] = 0;
    if (fd >= 0)
        close(fd);
    const char *line = strstr(text, "VmPTE:");
    return line ? (size_t)strtoull(line + 6, NULL, 10) * 1024 : 0;
}

void state_tell(const char *moment)
{
    if (!inside)
        return;
    out("about\tstate_maps_%s\t%zu\n", moment, lines_of("/proc/self/maps"));
    out("about\tstate_table_bytes_%s\t%zu\n", moment, table_bytes());
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
