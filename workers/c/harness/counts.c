/* What a phase called, allocated and copied, where this launch is counted and not timed. */
#include "counts.h"
#include "core.h"
#include <stdlib.h>
#include <sys/mman.h>

static const char *const names[COUNTS] = {"calls", "read_bytes", "written_bytes", "allocations", "allocated_bytes",
                                          "copied_bytes"};
static const volatile struct counts *counts;
static uint64_t calls_of_clock; /* where a clock read is no system call: none */

bool counts_open(void)
{
    const char *fd = getenv(COUNTS_VARIABLE);
    void *shared = fd ? mmap(NULL, sizeof *counts, PROT_READ, MAP_SHARED, atoi(fd), 0) : MAP_FAILED;
    if (shared == MAP_FAILED)
        return false;
    counts = shared;
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
    return column < COUNT_ALLOCATIONS ? counts->traced : counts->preloaded;
}

int counts_read(uint64_t into[MAX_EXTRA])
{
    int used = 0;
    for (int i = 0; counts && i < COUNTS; i++)
        if (is_counted(i))
            into[used++] = counts->count[i];
    return used;
}

int counts_end(uint64_t into[MAX_EXTRA])
{
    int used = counts_read(into);
    if (used && counts->traced)
        into[COUNT_CALLS] -= calls_of_clock;
    return used;
}

int counts_columns(const char *into[MAX_EXTRA])
{
    int used = 0;
    for (int i = 0; counts && i < COUNTS; i++)
        if (is_counted(i))
            into[used++] = names[i];
    return used;
}
