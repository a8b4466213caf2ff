/* Records of a perf ring buffer, whole (perf_event_open(2)): one that goes on at the ring's beginning is put together. */
#ifndef PAGEWISE_RING_H
#define PAGEWISE_RING_H
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

/* The record at `tail` of a ring with `bytes` of data; it stays until the next call. */
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
#endif
