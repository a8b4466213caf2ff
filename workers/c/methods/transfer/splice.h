/* The bodies of the ways that lend side a's pages to a pipe; side b copies out of it. */
#ifndef PAGEWISE_TRANSFER_SPLICE_H
#define PAGEWISE_TRANSFER_SPLICE_H
#include "streams.h"

#define PIECES "((bytes + chunk - 1) / chunk)"

static inline void splice_send(struct slot *s, size_t pipe_bytes, size_t chunk, unsigned flags, const char *obstacle)
{
    const char *missing = vmsplice_probe(s, flags);
    int fd = pipe_to_b(s, pipe_bytes, missing ? missing : obstacle);
    char *p = transfer_source(s);
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "send") { moved = vmsplice_all(fd, p, bytes, chunk, flags); }
    transfer_check(s, "vmsplice", moved);
    /* The pipe holds side a's own pages. */
    (flags & SPLICE_F_GIFT ? transfer_given : transfer_sent)(s, p, moved.calls, 0);
}

static inline void splice_receive(struct slot *s, size_t chunk, unsigned flags)
{
    int fd = pipe_from_a(s);
    char *p = transfer_target(s);
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = vmsplice_all(fd, p, bytes, chunk, flags); }
    transfer_check(s, "vmsplice", moved);
    transfer_received(s, p, moved.calls, 0);
}
#endif
