/* What a phase called, allocated, copied and made resident, where this launch is counted and not timed. */
#include "counts.h"
#include "core.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { GAUGES = 2, COLUMNS = COUNTS + GAUGES };

static const char *const names[COLUMNS] = {"calls", "read_bytes", "written_bytes", "allocations", "allocated_bytes",
                                           "copied_bytes", "resident_bytes", "huge_bytes"};
static const volatile struct counts *counts;
static bool has_gauges;
static uint64_t calls_of_clock; /* where a clock read is no system call: none */

/* Resident memory, and how much of it huge pages map, in bytes (smaps_rollup of proc_pid_smaps(5), Linux 4.14). */
static bool gauges(uint64_t into[GAUGES])
{
    static const struct {
        const char *field;
        int gauge;
    } fields[] = {{"\nRss:", 0}, {"\nAnonHugePages:", 1}, {"\nShmemPmdMapped:", 1}, {"\nFilePmdMapped:", 1}};
    char text[2048];
    int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    memset(into, 0, GAUGES * sizeof *into);
    if (length <= 0)
        return false;
    text[length] = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *at = strstr(text, fields[i].field);
        into[fields[i].gauge] += at ? strtoull(at + strlen(fields[i].field), NULL, 10) << 10 : 0;
    }
    return true;
}

bool counts_open(void)
{
    const char *fd = getenv(COUNTS_VARIABLE);
    void *shared = fd ? mmap(NULL, sizeof *counts, PROT_READ, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;
    if (shared == MAP_FAILED)
        return false;
    counts = shared;
    has_gauges = gauges((uint64_t[GAUGES]){0});
    if (!counts->traced)
        out("absent\tcalls\tptrace is not permitted here\n");
    if (!counts->preloaded)
        out("absent\tallocations\tno library can be preloaded here\n");
    return true;
}

void counts_clock(void)
{
    uint64_t before = counts ? counts->count[COUNT_CALLS] : 0;
    now_ns();
    now_ns();
    calls_of_clock = counts ? counts->count[COUNT_CALLS] - before : 0;
}

static bool is_counted(int column)
{
    return column < COUNT_ALLOCATIONS ? counts->traced : column < COUNTS ? counts->preloaded : has_gauges;
}

/* The counters are read next to the body, so that they hold none of the calls that read the gauges. */
static int read_counters(uint64_t into[MAX_EXTRA])
{
    int used = 0;
    for (int i = 0; counts && i < COUNTS; i++)
        if (is_counted(i))
            into[used++] = counts->count[i];
    return used;
}

int counts_begin(uint64_t into[MAX_EXTRA])
{
    uint64_t now[GAUGES];
    bool has = counts && has_gauges && gauges(now);
    int used = read_counters(into);
    for (int i = 0; has && i < GAUGES; i++)
        into[used++] = now[i];
    return used;
}

int counts_end(uint64_t into[MAX_EXTRA])
{
    int used = read_counters(into);
    if (counts && counts->traced)
        into[COUNT_CALLS] -= calls_of_clock;
    if (counts && has_gauges && gauges(into + used))
        used += GAUGES;
    return used;
}

void counts_spent(uint64_t spent[MAX_EXTRA])
{
    for (int i = 0; counts && i < MAX_EXTRA; i++)
        if ((int64_t)spent[i] < 0)
            spent[i] = 0;
}

int counts_columns(const char *into[MAX_EXTRA])
{
    int used = 0;
    for (int i = 0; counts && i < COLUMNS; i++)
        if (is_counted(i))
            into[used++] = names[i];
    return used;
}
