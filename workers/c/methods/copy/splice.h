/* A memcpy made of vmsplice: into a pipe and out of it again, a piece at a time, in one process. */
#ifndef PAGEWISE_COPY_SPLICE_H
#define PAGEWISE_COPY_SPLICE_H
#include "copy.h"
#include "pipes.h"

/* Returns how many bytes came out before an error; `bytes` where all did. */
static inline size_t through_pipe(const int ends[2], char *to, char *from, size_t bytes, size_t piece, unsigned flags)
{
    int out = ends[0], in = ends[1];
    size_t sent = 0, received = 0;
    while (received < bytes) {
        if (sent == received) {
            struct iovec part = {from + sent, bytes - sent < piece ? bytes - sent : piece};
            ssize_t n = vmsplice(in, &part, 1, flags);
            if (n <= 0 && errno != EINTR)
                break;
            sent += n > 0 ? (size_t)n : 0;
        }
        if (received < sent) {
            struct iovec part = {to + received, sent - received};
            ssize_t n = vmsplice(out, &part, 1, flags);
            if (n <= 0 && errno != EINTR)
                break;
            received += n > 0 ? (size_t)n : 0;
        }
    }
    return received;
}

static inline void splice_copy(struct slot *s, size_t pipe_bytes, size_t piece, unsigned flags)
{
    int ends[2];
    const char *obstacle = vmsplice_probe(s, flags);
    if (obstacle || (obstacle = pipe_open(s, ends, pipe_bytes)))
        skip(s, obstacle);
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride, done = bytes;
    uint64_t batch = c.batch;
    PHASE(s, "copy") {
        EACH_COPY(done = done == bytes ? through_pipe(ends, to + i * stride, from, bytes, piece, flags) : done)
        c.wrong = wrong;
    }
    if (done != bytes)
        fail_because(s, "vmsplice", came_so_far(strerror(errno), done, bytes));
    copy_end(s, &c);
    close(ends[0]);
    close(ends[1]);
}
#endif
