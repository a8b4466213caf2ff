#include "output.h"
#include <sys/uio.h>

enum { PIPE_BYTES = 1 << 20 };

/* The file has the gifted pages' content; whoever writes to them afterwards may change it, so the buffer is lost. */
static void splice_buffer(struct output *o, const int pipe[2])
{
    for (size_t at = 0; at < o->bytes && !o->failed;) {
        struct iovec rest = {o->buffer + at, o->bytes - at < PIPE_BYTES ? o->bytes - at : PIPE_BYTES};
        ssize_t given = vmsplice(pipe[1], &rest, 1, SPLICE_F_GIFT), taken = 0;
        if (given < 0 && errno == EINTR)
            continue;
        errno = given == 0 ? EIO : errno;
        if (given <= 0)
            output_lost(o, "vmsplice");
        for (ssize_t left = given; left > 0 && !o->failed; left -= taken) {
            taken = splice(pipe[0], NULL, o->file, NULL, (size_t)left, SPLICE_F_MOVE);
            errno = taken == 0 ? EIO : errno;
            if (taken <= 0 && errno != EINTR)
                output_lost(o, "splice");
            taken = taken < 0 ? 0 : taken;
        }
        at += given > 0 ? (size_t)given : 0;
    }
}

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    forbid_huge_pages(s, true);
    int pipe[2];
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") {
        output_buffer(&o);
        if (pipe2(pipe, O_CLOEXEC) != 0)
            output_lost(&o, "pipe2");
        else if (fcntl(pipe[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
            output_lost(&o, "fcntl");
    }
    output_check(s, &o);
    PHASE(s, "fill") {
        output_copy(&o, o.buffer, 0, o.steps);
        splice_buffer(&o, pipe);
    }
    output_check(s, &o);
    PHASE(s, "finish") {
        if ((close(pipe[0]) | close(pipe[1])) != 0)
            output_lost(&o, "close");
        output_unmap(&o);
        output_close(&o);
    }
    output_end(s, &o);
}

METHOD(output_buffer_splice, .experiment = "output", .name = "buffer-splice",
       .summary = "The whole file is built in anonymous memory, whose pages are given to a pipe (vmsplice) and spliced into the file.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY,
       .laws = BUILT_LAWS,
       .calls = "open:openat size:mmap,pipe2,fcntl fill:vmsplice,splice finish:munmap,close sync:fsync remove:unlinkat",
       .run = run);
