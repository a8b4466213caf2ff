/* Sending and receiving by descriptor. wait=spin asks again and again and never sleeps in the kernel. */
#ifndef PAGEWISE_MESSAGE_STREAMS_H
#define PAGEWISE_MESSAGE_STREAMS_H
#include "message.h"
#include <sys/socket.h>

/* Whole messages over a byte stream: a stream may pass a message in parts. */
static inline bool stream_send(struct link *l)
{
    const unsigned char *p = l->message;
    size_t left = l->bytes;
    unsigned tries = 0;
    while (left) {
        ssize_t sent = write(l->out, p, left);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (sent < 0) {
            if (!tried(&tries, TRIES_IN_KERNEL))
                return false;
            continue;
        }
        p += sent;
        left -= (size_t)sent;
    }
    return true;
}

static inline bool stream_receive(struct link *l)
{
    unsigned char *p = l->message;
    size_t left = l->bytes;
    unsigned tries = 0;
    while (left) {
        ssize_t got = read(l->in, p, left);
        if (got == 0)
            errno = EPIPE; /* the other side ended */
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (got < 0) {
            if (!tried(&tries, TRIES_IN_KERNEL))
                return false;
            continue;
        }
        p += got;
        left -= (size_t)got;
    }
    return true;
}

/* One message is one datagram: it comes whole or not at all. */
static inline bool datagram_send(struct link *l)
{
    ssize_t sent;
    unsigned tries = 0;
    while ((sent = send(l->out, l->message, l->bytes, 0)) < 0 && (errno == EAGAIN || errno == EINTR))
        if (!tried(&tries, TRIES_IN_KERNEL))
            return false;
    return sent == (ssize_t)l->bytes;
}

static inline bool datagram_receive(struct link *l)
{
    ssize_t got;
    unsigned tries = 0;
    while ((got = recv(l->in, l->message, l->bytes, 0)) < 0 && (errno == EAGAIN || errno == EINTR))
        if (!tried(&tries, TRIES_IN_KERNEL))
            return false;
    if (got >= 0 && got != (ssize_t)l->bytes)
        errno = EMSGSIZE;
    return got == (ssize_t)l->bytes;
}

/* Makes a descriptor's calls return at once where the cell spins. */
void spin_or_block(struct slot *s, const struct link *l, int descriptor);
/* A socket that got no port, with the reason where every port is taken. */
__attribute__((noreturn)) void no_port(struct slot *s, const char *call);
/* Memory that both sides map, named by a descriptor that side a makes and side b hears. */
char *shared_by_descriptor(struct slot *s, size_t bytes);
#endif
