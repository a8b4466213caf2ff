#include "splice.h"

enum { PUBLISHED_PIECE_BYTES = 4096 };

/* Makes the pipe, copies through it, closes it; returns how many bytes came out. */
static inline size_t copy_once(char *to, char *from, size_t bytes)
{
    int ends[2];
    if (pipe2(ends, 0) != 0)
        return 0;
    size_t done = through_pipe(ends, to, from, bytes, PUBLISHED_PIECE_BYTES, SPLICE_F_MOVE);
    int left = close(ends[0]);
    left |= close(ends[1]);
    return left ? 0 : done;
}

static void run(struct slot *s)
{
    int ends[2];
    const char *obstacle = vmsplice_probe(s, SPLICE_F_MOVE);
    if (obstacle || (obstacle = pipe_open(s, ends, 0))) /* records what a default pipe is here */
        skip(s, obstacle);
    close(ends[0]);
    close(ends[1]);
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride, done = bytes;
    uint64_t batch = c.batch;
    COPY_BEFORE(done = done == bytes ? copy_once(to + i * stride, from, bytes) : done)
    PHASE(s, "copy") {
        EACH_COPY(done = done == bytes ? copy_once(to + i * stride, from, bytes) : done)
        c.wrong = wrong;
    }
    if (done != bytes)
        fail_because(s, "pipe2, vmsplice or close", came_so_far(strerror(errno), done, bytes));
    copy_end(s, &c);
}

METHOD(copy_vmsplice_published, .experiment = "copy", .name = "vmsplice-published", .role = "published",
       .summary = "The P2b job as published: a default pipe is made, vmsplice goes into it and out of it, 4096 bytes at a time (SPLICE_F_MOVE), and it is closed.",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY,
       .laws = COPY_LAWS "; granted_pipe_bytes == 16 * page_bytes", .calls = "copy:pipe2,vmsplice,close", .run = run);
