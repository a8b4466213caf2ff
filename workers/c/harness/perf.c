/* Hardware counters, where the machine has them: cycles and dTLB load misses, user and kernel, this process's threads. */
#include "core.h"
#include <linux/perf_event.h>
#include <sys/syscall.h>

enum { WANTED = 2 };

static const struct wanted {
    const char *column;
    uint32_t type;
    uint64_t config;
} wanted[WANTED] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"dtlb_misses", PERF_TYPE_HW_CACHE,
     PERF_COUNT_HW_CACHE_DTLB | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (PERF_COUNT_HW_CACHE_RESULT_MISS << 16)},
};
static int descriptors[WANTED];
static const char *names[WANTED];
static int open_count;

static const char *why(int error)
{
    switch (error) {
    case ENOENT: case EOPNOTSUPP: case ENODEV:
        return "this machine exposes no hardware counter for it (common in virtual machines)";
    case EACCES: case EPERM:
        return "not permitted: lower kernel.perf_event_paranoid or grant CAP_PERFMON";
    case ENOSYS:
        return "this kernel has no perf_event_open";
    }
    return strerror(error);
}

void perf_open(void)
{
    for (int i = 0; i < WANTED; i++) {
        struct perf_event_attr attr = {.size = sizeof attr, .type = wanted[i].type, .config = wanted[i].config,
                                       .inherit = 1, .exclude_hv = 1};
        int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0) {
            out("absent\t%s\t%s\n", wanted[i].column, why(errno));
            continue;
        }
        names[open_count] = wanted[i].column;
        descriptors[open_count++] = fd;
    }
}

void perf_read(uint64_t extra[MAX_EXTRA])
{
    for (int i = 0; i < MAX_EXTRA; i++) {
        extra[i] = 0;
        if (i < open_count && read(descriptors[i], &extra[i], sizeof extra[i]) != sizeof extra[i])
            extra[i] = 0;
    }
}

int perf_columns(const char *into[MAX_EXTRA])
{
    for (int i = 0; i < open_count; i++)
        into[i] = names[i];
    return open_count;
}
