/* Reading with O_DIRECT: laws, the refusal where there is no device, and sizes in whole blocks. */
#ifndef PAGEWISE_READ_O_DIRECT_H
#define PAGEWISE_READ_O_DIRECT_H
#include "read.h"

/* These methods have processes of their own: behind them a mapping of a cached file took 2.5 ms instead of 1.5.
 * Every byte comes from the device, also when the cache has it, and none is left in the cache. */
#define DIRECT_LAWS                                                                                                    \
    BUFFER_LAWS "; counted == 1: device_bytes >= stored_bytes; cache=cold: resident_after_bytes == 0"

/* The last request is for whole blocks too: the kernel brings what there is of them. */
static inline size_t whole_blocks(size_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

static inline void direct_begin(struct slot *s, struct input *in, size_t chunk, size_t buffers)
{
    if (key_is(s, "place", "tmpfs"))
        skip(s, "tmpfs has no device that O_DIRECT could read from");
    read_begin(s, in, chunk, buffers);
    in->footprint_bytes = in->buffer_bytes;
}

static inline void direct_check(struct slot *s, int descriptor)
{
    if (descriptor < 0 && errno == EINVAL)
        skip(s, "this file system refuses O_DIRECT");
    check_open(s, descriptor, "open");
}
#endif
