#include "splice.h"

static void run(struct slot *s)
{
    size_t pipe_bytes = key_size(s, "pipe_bytes");
    splice_copy(s, pipe_bytes, pipe_bytes, 0);
}

METHOD(copy_vmsplice_wide, .experiment = "copy", .name = "vmsplice-wide",
       .summary = "vmsplice into a pipe of pipe_bytes and out of it, a whole pipe at a time: few calls, one copy by the kernel.",
       .phases = "copy", .keys = COPY_KEYS " pipe_bytes:size", .memory = COPY_MEMORY,
       .laws = COPY_LAWS "; granted_pipe_bytes == pipe_bytes; vmsplice_shares_pages == 1", .calls = "copy:vmsplice",
       .run = run);
