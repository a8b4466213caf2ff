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
    close(fd);
}
#endif
