/* The body of write() into a pipe and read() out of it, whatever the pipe's size. */
#ifndef PAGEWISE_TRANSFER_PIPE_H
#define PAGEWISE_TRANSFER_PIPE_H
#include "streams.h"

static inline void pipe_send(struct slot *s, size_t pipe_bytes)
{
    int fd = pipe_to_b(s, pipe_bytes, NULL);
    char *p = transfer_source(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "send") { moved = write_all(fd, p, bytes, chunk); }
    transfer_check(s, "write", moved);
    transfer_sent(s, p, moved.calls, pipe_bytes_of(fd));
}

static inline void pipe_receive(struct slot *s)
{
    int fd = pipe_from_a(s);
    char *p = transfer_target(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = read_all(fd, p, bytes, chunk); }
    transfer_check(s, "read", moved);
    transfer_received(s, p, moved.calls, 0);
}
#endif
