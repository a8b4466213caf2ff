/* Moving a whole block into or out of a descriptor, a piece at a time; short and interrupted calls go on where they ended. */
#ifndef PAGEWISE_STREAMS_H
#define PAGEWISE_STREAMS_H
#include "transfer.h"
#include "pipes.h"

/* One step of the loops below: true where the loop is to go on. The end of a stream is the other side's end. */
static inline bool went_on(ssize_t n)
{
    if (n > 0 || (n < 0 && errno == EINTR))
        return true;
    errno = n == 0 || errno == ECONNRESET ? EPIPE : errno;
    return false;
}

/* Repeats `call`, which moves at most `piece` bytes from or to moved.bytes within the block, until `bytes` have moved. */
#define EACH_PIECE(call)                                                                                               \
    struct moved moved = {0, 0};                                                                                       \
    while (moved.bytes < bytes) {                                                                                      \
        size_t piece = bytes - moved.bytes < chunk ? bytes - moved.bytes : chunk;                                      \
        ssize_t n = call;                                                                                              \
        moved.calls++;                                                                                                 \
        if (!went_on(n))                                                                                               \
            break;                                                                                                     \
        moved.bytes += n > 0 ? (size_t)n : 0;                                                                          \
    }                                                                                                                  \
    return moved

static inline struct moved write_all(int fd, char *p, size_t bytes, size_t chunk)
{
    EACH_PIECE(write(fd, p + moved.bytes, piece));
}

static inline struct moved read_all(int fd, char *p, size_t bytes, size_t chunk)
{
    EACH_PIECE(read(fd, p + moved.bytes, piece));
}

/* On the write end of a pipe this lends pages to it; on the read end it copies out of it. */
static inline struct moved vmsplice_all(int fd, char *p, size_t bytes, size_t chunk, unsigned flags)
{
    EACH_PIECE(vmsplice(fd, &(struct iovec){p + moved.bytes, piece}, 1, flags));
}

/* The channel of a cell lasts for the launch, as a program's does: -1 until it is opened, at the same place on both sides.
 * What was closed is freed milliseconds later (RCU), and until then a CPU that goes idle keeps its tick and is woken sooner:
 * sendfile, whose sides sleep for each piece, took 0.71 of read-pipe's time with a socket a sample, 0.86 with a lasting one. */
int *lasting_channel(struct slot *s);
/* Open it where it is not; where that cannot be, both skip the cell. Side a gives its obstacle, if it knows one. */
int pipe_to_b(struct slot *s, size_t pipe_bytes, const char *obstacle);
int pipe_from_a(struct slot *s);
int socket_to_b(struct slot *s);
int socket_from_a(struct slot *s);
/* Memory that the kernel may hold between the sides: a pipe's size, or a socket's own buffer (SO_SNDBUF on side a,
 * SO_RCVBUF on side b). */
uint64_t pipe_bytes_of(int fd);
uint64_t socket_bytes_of(struct slot *s, int fd);
#endif
