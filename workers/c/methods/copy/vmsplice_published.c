#include "splice.h"

enum { PUBLISHED_PIECE_BYTES = 4096 };

static void run(struct slot *s)
{
    splice_copy(s, 0, PUBLISHED_PIECE_BYTES, SPLICE_F_MOVE);
}

METHOD(copy_vmsplice_published, .experiment = "copy", .name = "vmsplice-published", .role = "published",
       .summary = "The P2b job as published: vmsplice into a default pipe and out of it, 4096 bytes at a time (SPLICE_F_MOVE).",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY,
       .laws = COPY_LAWS "; granted_pipe_bytes == 16 * page_bytes", .calls = "copy:vmsplice", .run = run);
