/* Side b of every way that ends in read() from a descriptor. */
#ifndef PAGEWISE_RELAY_RECEIVE_H
#define PAGEWISE_RELAY_RECEIVE_H
#include "relay.h"

static inline void relay_read(struct slot *s, int (*channel)(struct slot *))
{
    char *p = relay_target(s);
    int fd = channel(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = read_all(fd, p, bytes, chunk); }
    transfer_check(s, "read", moved);
    relay_received(s, p, moved.calls);
}

/* Out of a stream into a file, through a buffer of one piece. */
static inline struct moved store_stream(int from, int file, char *buffer, size_t bytes, size_t chunk)
{
    struct moved moved = {0, 0}, put;
    while (moved.bytes < bytes) {
        ssize_t got = read(from, buffer, bytes - moved.bytes < chunk ? bytes - moved.bytes : chunk);
        if (!went_on(got))
            break;
        put = write_all(file, buffer, got > 0 ? (size_t)got : 0, chunk);
        moved.calls += 1 + put.calls;
        moved.bytes += put.bytes;
        if (got > 0 && put.bytes != (size_t)got)
            break;
    }
    return moved;
}

static inline void relay_store(struct slot *s, int (*channel)(struct slot *), size_t chunk)
{
    struct sink to = relay_sink(s);
    int fd = channel(s), file = to.file;
    size_t bytes = s->bytes;
    char *p = to.block, *buffer = file < 0 ? NULL : block_resident(s, chunk);
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = file < 0 ? read_all(fd, p, bytes, chunk) : store_stream(fd, file, buffer, bytes, chunk); }
    transfer_check(s, "read or write", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
}
#endif
