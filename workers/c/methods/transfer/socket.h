/* The body of write() and read() on a connected stream socket, of whichever family. */
#ifndef PAGEWISE_TRANSFER_SOCKET_H
#define PAGEWISE_TRANSFER_SOCKET_H
#include "streams.h"

static inline void socket_send(struct slot *s, int fd)
{
    char *p = transfer_source(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "send") { moved = write_all(fd, p, bytes, chunk); }
    transfer_check(s, "write", moved);
    transfer_sent(s, p, moved.calls, socket_bytes_of(s, fd));
}

static inline void socket_receive(struct slot *s, int fd)
{
    char *p = transfer_target(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = read_all(fd, p, bytes, chunk); }
    transfer_check(s, "read", moved);
    transfer_received(s, p, moved.calls, socket_bytes_of(s, fd));
}
#endif
