#include "splice.h"

enum { PUBLISHED_PIECE_BYTES = 4096 }; /* PIPE_BUF */

static void run(struct slot *s)
{
    splice_send(s, 0, PUBLISHED_PIECE_BYTES, SPLICE_F_MOVE, NULL);
}

static void run_b(struct slot *s)
{
    splice_receive(s, PUBLISHED_PIECE_BYTES, SPLICE_F_MOVE);
}

METHOD(transfer_vmsplice_published, .experiment = "transfer", .name = "vmsplice-published", .role = "published",
       .summary = "The P2 job as published: vmsplice at both ends of a default pipe, 4096 bytes at a time, SPLICE_F_MOVE.",
       .phases = TRANSFER_PHASES, .keys = "bytes:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_pipe_bytes == 16 * page_bytes; send.calls == (bytes + 4095) / 4096; "
                                          "receive.calls == (bytes + 4095) / 4096",
       .calls = "send:vmsplice receive:vmsplice", .run = run, .run_b = run_b);
