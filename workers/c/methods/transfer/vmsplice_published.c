#include "published.h"
#include "streams.h"

static void run(struct slot *s)
{
    int fd = pipe_to_b(s, 0, vmsplice_probe(s, SPLICE_F_MOVE));
    char *p = published_source(s);
    size_t bytes = s->bytes;
    struct moved moved;
    PHASE(s, "fault-channel") { }
    meet(s);
    PHASE(s, "send") { moved = vmsplice_all(fd, p, bytes, PUBLISHED_PIECE_BYTES, SPLICE_F_MOVE); }
    transfer_check(s, "vmsplice", moved);
    transfer_sent(s, p, moved.calls, 0); /* the pipe holds side a's own pages */
}

static void run_b(struct slot *s)
{
    int fd = pipe_from_a(s);
    char *p = published_target(s);
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = vmsplice_all(fd, p, bytes, PUBLISHED_PIECE_BYTES, SPLICE_F_MOVE); }
    transfer_check(s, "vmsplice", moved);
    transfer_received(s, p, moved.calls, 0);
}

METHOD(transfer_vmsplice_published, .experiment = "transfer", .name = "vmsplice-published", .role = "published",
       .summary = "The P2 job as published: vmsplice at both ends of a default pipe, 4096 bytes at a time, SPLICE_F_MOVE, into a malloc'ed block that was never touched.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS, .memory = "2 * bytes",
       .laws = PUBLISHED_LAWS "; send.minor_faults == 0; block=resident: receive.minor_faults == 0; "
                              "granted_pipe_bytes == 16 * page_bytes; send.calls >= (bytes + 4095) / 4096; "
                              "receive.calls >= (bytes + 4095) / 4096",
       .calls = "send:vmsplice receive:vmsplice", .run = run, .run_b = run_b);
