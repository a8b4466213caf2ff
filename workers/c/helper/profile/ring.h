/* Rings of records of the kernel's events (perf_event_open(2)), one for each processor. */
#ifndef PAGEWISE_RING_H
#define PAGEWISE_RING_H
#include "helper/process.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The record at `tail` of a ring with `bytes` of data, whole, also where it goes on at the ring's beginning; it stays until the
 * next call. */
static inline const struct perf_event_header *ring_record(struct perf_event_mmap_page *ring, size_t bytes, uint64_t tail)
{
    static _Alignas(8) char whole[1 << 16];
    const char *data = (const char *)ring + 4096;
    size_t at = tail % bytes, first = bytes - at;
    const struct perf_event_header *header = (const void *)(data + at);
    if (header->size <= first)
        return header;
    size_t size = header->size;
    memcpy(whole, data + at, first);
    memcpy(whole + first, data, size - first);
    return (const void *)whole;
}

/* Has the events of a further thread of a process, which runs already, write into these rings. What has only got the number of
 * a thread that ended is not followed. */
static inline void join_events(pid_t pid, pid_t thread, int cpus, const int *rings, int (*open_event)(pid_t, int))
{
    enum { MOST = 512 };
    int opened[MOST], count = 0;
    for (int cpu = 0; count < cpus && cpu < MOST; cpu++) {
        int fd = open_event(thread, cpu);
        if (fd < 0 && errno == ENODEV) /* a processor that is switched off */
            continue;
        if (fd < 0)
            break;
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings[count]) != 0) {
            close(fd);
            break;
        }
        opened[count++] = fd;
    }
    bool is_its = process_has_thread(pid, thread);
    for (int i = 0; i < count; i++)
        if (!is_its || ioctl(opened[i], PERF_EVENT_IOC_ENABLE, 0) != 0)
            close(opened[i]);
}
#endif
